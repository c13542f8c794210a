/** What is looked at when something is wrong and nobody knows what. Pure: answers in, verdicts with the next step out. */
import type { Me, Overview, WorkerView } from "@sluice/wire";
import { plural, showSeconds } from "../output/text.ts";

export interface Verdict {
  readonly check: string;
  readonly result: "pass" | "warn" | "fail";
  readonly says: string;
  /** What to do next; "" where nothing is to be done. */
  readonly next: string;
}

const pass = (check: string, says: string): Verdict => ({ check, result: "pass", says, next: "" });
const warn = (check: string, says: string, next: string): Verdict => ({ check, result: "warn", says, next });
const fail = (check: string, says: string, next: string): Verdict => ({ check, result: "fail", says, next });

/** Of both services: how their answer came, and what their clock said meanwhile. */
export interface Reached {
  readonly service: "intake" | "admin";
  readonly url: string | null;
  /** 0: nobody answered. */
  readonly status: number;
  readonly why: string;
  readonly clockMs: number | null;
}

/** Times in HTTP are whole seconds, and an answer takes some. */
const SKEW_MAX_MS = 5_000;

export function judgeReach({ service, url, status, why }: Reached): Verdict {
  const setting = `SLUICE_${service.toUpperCase()}_URL`;
  if (url === null) return warn(service, "its address is not known", `set ${setting}, or sluice context set`);
  switch (status) {
    case 0:
      return fail(service, why, `is it running, and is ${setting} right (sluice context show)?`);
    case 200:
      return pass(service, `${url} answers`);
    case 401:
      return fail(service, `${url} does not know the token: ${why}`, "ask an admin for a token (sluice token create)");
    case 403:
      return warn(service, `${url} answers, but not you: ${why}`, "sluice whoami shows your role");
    case 503:
      return fail(service, `${url} is there, but: ${why}`, "is ZooKeeper running, and can the service reach it?");
    default:
      return fail(service, `${url} answers ${status}: ${why}`, "the service's log says why");
  }
}

export function judgeClock({ service, clockMs }: Reached, nowMs: number): Verdict[] {
  if (clockMs === null) return [];
  const skewMs = Math.abs(clockMs - nowMs);
  const check = `clock of ${service}`;
  if (skewMs <= SKEW_MAX_MS) return [pass(check, "as here")];
  const off = showSeconds(skewMs / 1_000);
  const says = `${off} ${clockMs > nowMs ? "ahead of" : "behind"} this machine's`;
  return [warn(check, says, "set both by NTP: tokens, holds with an end and ages count by them")];
}

export const judgeToken = ({ name, role, collections }: Me): Verdict =>
  pass("token", `${name}, ${role} of ${collections === null ? "everything" : collections.join(", ") || "nothing"}`);

export function judgeVersions(service: string, workers: readonly WorkerView[]): Verdict {
  const versions = [...new Set([service, ...workers.map(({ version }) => version)])].sort();
  return versions.length === 1
    ? pass("versions", `all ${service}`)
    : warn("versions", versions.join(" and "), "finish the upgrade: sluice worker list -o wide shows who runs what");
}

export function judgeFleet(overview: Overview, workers: readonly WorkerView[]): readonly Verdict[] {
  return [
    ...judgePauses(overview, workers),
    ...overview.stages.map(judgeStage),
    judgeSpace(overview),
    judgeFailures(overview),
  ];
}

function judgePauses(
  { queue_paused: queue, held_collections: held, stages }: Overview,
  workers: readonly WorkerView[],
): readonly Verdict[] {
  const paused = [
    ...(queue === null
      ? []
      : [{ says: `the queue is paused by ${queue.by}: ${queue.why}`, next: "sluice queue resume" }]),
    ...stages.flatMap(({ stage, paused: by }) =>
      by === null ? [] : [{ says: `${stage} is paused by ${by.by}: ${by.why}`, next: `sluice stage resume ${stage}` }],
    ),
    ...held.map(({ collection, by, why }) => ({
      says: `${collection} is held by ${by}: ${why}`,
      next: `sluice collection release ${collection}`,
    })),
    ...workers.flatMap(({ id, draining }) =>
      draining === null ? [] : [{ says: `${id} drains: ${draining.why}`, next: `sluice worker undrain ${id}` }],
    ),
  ];
  if (paused.length === 0) return [pass("pauses", "nothing is paused, held or drained")];
  return paused.map(({ says, next }) => warn("pauses", says, `when its reason is over: ${next} --reason TEXT`));
}

const OLD_SECONDS = 3_600;

function judgeStage({
  stage,
  waiting,
  ready,
  workers,
  oldest_ready_seconds: oldest,
  paused,
}: Overview["stages"][number]) {
  if (workers === 0) {
    const says = `no worker; ${plural(waiting, "job")} waiting`;
    const next = `start one: without it nothing leaves ${stage}`;
    return waiting > 0 ? fail(stage, says, next) : warn(stage, says, next);
  }
  if (ready > 0 && paused === null && oldest > OLD_SECONDS) {
    const says = `${plural(ready, "job")} ready, the oldest for ${showSeconds(oldest)}`;
    return warn(stage, says, "more workers, or a look at their logs: docs/runbook.md");
  }
  return pass(stage, `${plural(workers, "worker")}, ${plural(waiting, "job")} waiting`);
}

function judgeSpace({ space }: Overview): Verdict {
  if (space === null) return warn("space", "the admin cannot see the working volume", "check its WORKING_DIR");
  const used = (space.volume_bytes - space.free_bytes) / space.volume_bytes;
  const share = `${Math.round(used * 100)} % of the working volume in use`;
  return used < space.admit_below
    ? pass("space", share)
    : warn(
        "space",
        `${share}: no job is admitted`,
        "delete failed jobs whose files nobody needs, or enlarge the volume",
      );
}

function judgeFailures({ failures }: Overview): Verdict {
  const [worst] = [...failures].sort((a, b) => b.count - a.count);
  if (worst === undefined) return pass("failures", "none of late");
  const total = failures.reduce((sum, { count }) => sum + count, 0);
  return warn(
    "failures",
    `${plural(total, "job")} failed of late, most of them as ${worst.code} (${worst.says})`,
    `${worst.remedy}; then sluice job resume --error-code ${worst.code} --dry-run`,
  );
}
