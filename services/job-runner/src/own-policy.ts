/** Where the runner itself may go, beyond where tenants may send it. */
import { type EgressPolicy, type EgressSettings, policyOf, portOf } from "@sluice/safe-io";

interface OwnPlaces extends EgressSettings {
  readonly FILESET_URL: string;
  readonly DEAD_WORKER_HOOK?: string | undefined;
}

/** All tenants' filesets stand at one place: who could ask it by a handler of their own would read everybody's. */
export function ownPolicy(config: OwnPlaces): EgressPolicy {
  const policy = policyOf(config);
  const places = [config.FILESET_URL, config.DEAD_WORKER_HOOK].flatMap((raw) =>
    raw !== undefined && /^https?:/.test(raw) && URL.canParse(raw) ? [new URL(raw)] : [],
  );
  const rules = places.map((url) => ({ host: url.hostname, ports: [portOf(url)] }));
  return rules.length === 0 ? policy : { ...policy, allow: [...policy.allow, ...rules] };
}
