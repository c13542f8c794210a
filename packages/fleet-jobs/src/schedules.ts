/** What a fleet does by itself, until its operators say otherwise: made once, never changed by a start. */
import type { Answer } from "@sluice/client";
import type { NewJob } from "@sluice/wire";
import { FLEET_TYPES } from "./fleet-handlers.ts";

export const SYSTEM_TENANT = "system";

/** Each is the only job of its name: whoever starts first makes it, and what an operator has changed stays changed. */
export const SYSTEM_SCHEDULES: readonly NewJob[] = [
  scheduled(FLEET_TYPES.cleanUp, "FINISHED, +1 HOUR", { retentionDays: 7 }),
  scheduled(FLEET_TYPES.purge, "FINISHED, +1 DAY", { runsDays: 14 }),
  scheduled(FLEET_TYPES.snapshot, "FINISHED, +1 DAY, START OF DAY, +2 HOURS", { copies: 14 }),
  scheduled(FLEET_TYPES.fsckReport, "FINISHED, +1 DAY", { copies: 30 }),
];

function scheduled(name: string, repeat: string, data: Readonly<Record<string, unknown>>): NewJob {
  return { name, repeat, data, unique: true, overwrite: false };
}

export type CreateSystemJob = (job: NewJob) => Promise<Answer<{ readonly jobID: number }>>;

export type Ensured =
  | { readonly kind: "there"; readonly ids: readonly number[] }
  /** Try again: those that were made are there already. */
  | { readonly kind: "not-yet"; readonly why: string };

export async function ensureSchedules(create: CreateSystemJob): Promise<Ensured> {
  const ids: number[] = [];
  for (const job of SYSTEM_SCHEDULES) {
    const answer = await create(job);
    if (!answer.ok) {
      const why = answer.kind === "unreachable" ? answer.why : answer.refusal.detail;
      return { kind: "not-yet", why: `${String(job.name)}: ${why}` };
    }
    ids.push(answer.value.jobID);
  }
  return { kind: "there", ids };
}
