/** What everybody who is no owner needs of the queue. Behind it may stand one owner, or a router to many. */
import type { ShardOwner } from "./owner/owner.ts";
import type { Command, GetJobs } from "./shard/commands.ts";
import type { Reply } from "./shard/views.ts";

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

/** Jobs that were given to somebody who never got them: as if they had not been taken. */
export async function giveBack(queue: QueuePort, tenant: string, answer: Answer): Promise<void> {
  if (answer?.content.kind !== "taken" || answer.content.jobs.length === 0) return;
  const { jobs } = answer.content;
  const ids = jobs.map(({ view }) => view.jobID);
  const leases = jobs.map(({ token }) => token);
  await queue.ask(tenant, { verb: "RequeueJobs", tenant, ids, name: null, decrementFailures: true, leases });
}
