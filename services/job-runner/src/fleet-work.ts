/** The fleet's own jobs, run here without a handler of anybody's. */
import { makeClient } from "@sluice/client";
import { ensureSchedules, fleetHandlers, type FleetPorts, type Purges, SYSTEM_TENANT } from "@sluice/fleet-jobs";
import { failureText, type JobClient } from "@sluice/job-client";
import { heldToken, type Log } from "@sluice/stage-runtime";
import { type BodyOf, JOB_HOUSE, JOBS } from "@sluice/wire";
import type { RunnerConfig } from "./config.ts";
import type { LoopPorts } from "./run/work-loop.ts";

type Settings = Pick<
  RunnerConfig,
  "ADMIN_URL" | "INTAKE_URL" | "ADMIN_TOKEN" | "ADMIN_TOKEN_FILE" | "SNAPSHOTS_DIR" | "REPORTS_DIR"
>;

export function fleetWork(
  config: Settings,
  client: Pick<JobClient, "call">,
  { nowMs, pause }: Pick<LoopPorts, "nowMs" | "pause">,
  { onFindings, onDone }: Pick<FleetPorts, "onFindings" | "onDone">,
): LoopPorts["builtIn"] {
  const clientOf = (baseUrl: string | undefined) =>
    baseUrl === undefined ? null : makeClient({ baseUrl, ...heldToken(config.ADMIN_TOKEN, config.ADMIN_TOKEN_FILE) });
  const handlerOf = fleetHandlers({
    admin: clientOf(config.ADMIN_URL),
    intake: clientOf(config.INTAKE_URL),
    snapshotsDir: config.SNAPSHOTS_DIR,
    reportsDir: config.REPORTS_DIR,
    purges: purgesOf(client),
    nowMs,
    pause,
    onFindings,
    onDone,
  });
  return (job) => {
    const handler = job.tenant === SYSTEM_TENANT ? handlerOf(job.type) : null;
    if (handler === null) return null;
    const { id, tenant, type: name, data, lease: token } = job;
    return (signal) => handler({ id, tenant, name, data, token, attempt: 1 }, signal);
  };
}

/** The store is the job-apis': they know what is named. */
function purgesOf(client: Pick<JobClient, "call">): Purges {
  const purge = async (body: BodyOf<typeof JOB_HOUSE.purge>, signal: AbortSignal): Promise<number> => {
    const answer = await client.call(JOB_HOUSE.purge, { body, signal });
    if (!answer.ok) throw new Error(failureText(answer));
    return answer.value.gone;
  };
  return {
    runs: (olderThanMs, signal) => purge({ what: "runs", older_than_ms: olderThanMs }, signal),
    blobs: (signal) => purge({ what: "blobs" }, signal),
  };
}

const AGAIN_MS = 5_000;

/** Until they are there: the job-api may come up after us. */
export async function makeSchedules(
  client: JobClient,
  log: Log,
  pause: (ms: number) => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  const system = client.forTenant(SYSTEM_TENANT);
  while (!signal.aborted) {
    const ensured = await ensureSchedules(async (job) => {
      const made = await system.call(JOBS.createJob, { params: { tenant: SYSTEM_TENANT }, body: job });
      return made.ok || made.kind !== "unknown" ? made : { ok: false, kind: "unreachable", why: made.why };
    });
    if (ensured.kind === "there") {
      log.info({ jobs: ensured.ids }, "the fleet's own schedules are there");
      return;
    }
    log.warn({ why: ensured.why }, "the fleet's own schedules could not be made yet");
    await pause(AGAIN_MS);
  }
}
