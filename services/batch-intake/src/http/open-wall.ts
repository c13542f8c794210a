/** Who may come in, as the settings say. */
import { type AccessSettings, type Authenticator, type CallerLookup, type FetchKeys, openAccess } from "@sluice/access";
import { hostsAnswered, type HttpSettings, type WallOptions } from "@sluice/http-api";
import { makeInstruments, type ServiceParts } from "@sluice/stage-runtime";
import { WALL_METRICS } from "../metrics.ts";

export function openWall(
  settings: AccessSettings & Pick<HttpSettings, "BODY_BYTES_PER_CALLER">,
  fetchKeys: FetchKeys,
  { clock, log, queue, registry }: Pick<ServiceParts, "clock" | "log" | "queue" | "registry">,
): WallOptions & { readonly authenticator: Authenticator & CallerLookup } {
  const { refused } = makeInstruments(WALL_METRICS, registry);
  if (settings.AUTH === "off") log.warn("AUTH is off: whoever reaches the port may do everything");
  return {
    authenticator: openAccess({
      settings,
      session: () => queue()?.context.session ?? null,
      clock,
      fetchKeys,
      onProblem: (problem) => log.warn({ problem }, "tokens"),
      // Merritt's clients come with a user name and a password.
      basic: true,
    }),
    callsPerMinute: settings.CALLS_PER_MINUTE,
    bodyBytesPerCaller: settings.BODY_BYTES_PER_CALLER,
    hosts: hostsAnswered(settings),
    onRefused(why, request) {
      refused.inc();
      log.info({ why, from: request.ip, path: request.path }, "credentials were not accepted");
    },
  };
}
