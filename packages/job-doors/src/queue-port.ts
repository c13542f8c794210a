/** What every door needs of the queue, and a few words that all doors say. */
import type { Reply, Status } from "@sluice/job-queue";

export { type Answer, type GetJobs, giveBack, queueOfOwner, type QueuePort } from "@sluice/job-queue";

export const UNKNOWN_OUTCOME: Status = { code: 503, text: "Not known whether this was done" };
export const statusOnly = (status: Status): Reply => ({ status, content: { kind: "none" } });

/** Wakes us later; returns the way to stop it. */
export type Later = (ms: number, wake: () => void) => () => void;

/** Of a JSON object: texts stay as they are, so that JSON in a text keeps its bytes; everything else becomes its JSON. */
export function textsOf(object: Readonly<Record<string, unknown>>): Record<string, string> {
  const entries = Object.entries(object).filter(([, value]) => value !== undefined && value !== null);
  return Object.fromEntries(
    entries.map(([name, value]) => [name, typeof value === "string" ? value : JSON.stringify(value)]),
  );
}
