/** Whether a caller still is who they were when they asked: a token may end while they wait, or before a command's time. */
import type { Status } from "@sluice/job-queue";
import { giveBack, type QueuePort, statusOnly } from "./queue-port.ts";

export type Still = () => Promise<boolean>;

export const TOKEN_ENDED: Status = { code: 401, text: "Unauthorized: your token has ended" };

/** The same queue, which hands no job to a waiter whose token has ended meanwhile: the job goes back. */
export const watchedQueue = (queue: QueuePort, still: Still): QueuePort => ({
  ask: (tenant, command) => queue.ask(tenant, command),
  async wait(tenant, command, timeoutMs, gone) {
    const answer = await queue.wait(tenant, command, timeoutMs, gone);
    if (answer?.content.kind !== "taken" || answer.content.jobs.length === 0 || (await still())) return answer;
    await giveBack(queue, tenant, answer);
    return statusOnly(TOKEN_ENDED);
  },
});
