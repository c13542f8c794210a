/** What every door needs of the queue. Behind it may stand one owner, or a router to many. */
import type { Command, Reply, ShardOwner, Status } from "@sluice/job-queue";

export type GetJobs = Extract<Command, { readonly verb: "GetJobs" }>;

/** Null: nobody knows whether it was done. */
export type Answer = Reply | null;

export interface QueuePort {
  ask(tenant: string, command: Command): Promise<Answer>;
  /** Until there is a job, the time is over, or the caller is gone. */
  wait(tenant: string, command: GetJobs, timeoutMs: number, gone: AbortSignal): Promise<Answer>;
}

/** A queue whose every tenant has the same owner. */
export const queueOfOwner = (owner: Pick<ShardOwner, "ask" | "wait">): QueuePort => ({
  ask: (_tenant, command) => owner.ask(command),
  wait: (_tenant, command, timeoutMs, gone) => owner.wait(command, timeoutMs, gone),
});

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

/** Jobs that were given to somebody who never got them: as if they had not been taken. */
export async function giveBack(queue: QueuePort, tenant: string, answer: Answer): Promise<void> {
  if (answer?.content.kind !== "taken" || answer.content.jobs.length === 0) return;
  const ids = answer.content.jobs.map(({ view }) => view.jobID);
  await queue.ask(tenant, { verb: "RequeueJobs", tenant, ids, name: null, decrementFailures: true });
}
