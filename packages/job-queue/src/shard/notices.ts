/** What the queue did to jobs by itself, in words: nobody asked for it, so somebody must be able to read why. */
import type { Job } from "../records.ts";
import type { Unit } from "./changes.ts";
import type { Command } from "./commands.ts";

/** lapse: lost by its worker and offered again; poison: FAILED instead of given; chain: made by another one's end. */
export const NOTICES = ["lapse", "poison", "chain"] as const;

export interface Notice {
  readonly what: (typeof NOTICES)[number];
  readonly id: number;
  readonly tenant: string;
  readonly name: string;
  /** Who had it; "" for nobody, or one without a name. */
  readonly worker: string;
  readonly why: string;
}

/** Others do what they say and nothing else. */
const SPEAKING: ReadonlySet<Command["verb"]> = new Set([
  "Tick",
  "ReleaseWorker",
  "ExpireJobs",
  "GetJobs",
  "FinishJob",
  "RetryJob",
]);

export function noticesOf(command: Command, units: readonly Unit[], now: number): readonly Notice[] {
  if (!SPEAKING.has(command.verb)) return [];
  const notices: Notice[] = [];
  for (const unit of units) {
    for (const change of unit) {
      if (change.kind !== "set" && change.kind !== "create") continue;
      const notice = noticeOf(command, change, now);
      if (notice !== null) notices.push(notice);
    }
  }
  return notices;
}

interface Written {
  readonly kind: "create" | "set";
  readonly id: number;
  readonly job: Job;
}

function noticeOf(command: Command, { kind, id, job }: Written, now: number): Notice | null {
  const [, move = "", worker = ""] = job.ev.at(-1) ?? [];
  const of = { id, tenant: job.tenant, name: job.name, worker };
  // Of these commands only an end makes a job.
  if (kind === "create")
    return { ...of, what: "chain", why: "id" in command ? `job ${command.id} has ended well` : "" };
  if (move === "poison") return { ...of, what: "poison", why: job.step ?? "" };
  return move === "lapse" ? { ...of, what: "lapse", why: whyLost(command, job, now) } : null;
}

function whyLost({ verb }: Command, { lastRun, maxRunTime }: Job, now: number): string {
  if (verb === "ReleaseWorker") return "its worker was declared dead";
  const isTooLong = maxRunTime !== undefined && lastRun !== undefined && lastRun + maxRunTime <= now;
  return isTooLong ? "it ran longer than its maxRunTime" : "its lease ran out";
}
