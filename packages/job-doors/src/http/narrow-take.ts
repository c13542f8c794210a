/** Which of the waiting jobs a worker that serves several tenants wants. */
import { matchesName, parseNames, SYSTEM_TENANT } from "@sluice/job-queue";
import type { BodyOf, JOBS } from "@sluice/wire";
import type { JobPorts, Taking } from "./ports.ts";

const FLEET_TYPES_PREFIX = "fleet/";

export function narrowedBy(
  { types, handled = false, besides = [] }: BodyOf<typeof JOBS.takeJobs>,
  { isHandled }: Pick<JobPorts, "isHandled">,
): Pick<Taking, "types" | "accepts"> {
  const always = besides.map((pattern) => parseNames(pattern));
  // The fleet's own types are the fleet's: what a tenant calls so is its own workers' affair.
  const isOurs = (tenant: string, type: string): boolean =>
    tenant === SYSTEM_TENANT || !type.startsWith(FLEET_TYPES_PREFIX);
  const accepts = (tenant: string, type: string): boolean =>
    isHandled(tenant, type) || (isOurs(tenant, type) && always.some((each) => matchesName(each, type)));
  return { ...(types === undefined ? {} : { types }), ...(handled ? { accepts } : {}) };
}
