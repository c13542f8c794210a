/** A queue whose callers need not know what is too large for the tree: it goes to the store of blobs and comes from there. */
import { type BlobStore, type Command, fetchLarge, isStatus, type QueuePort, storeLarge } from "@sluice/job-queue";
import { type Answer, statusOnly } from "./queue-port.ts";

const LOST_DATA = { code: 503, text: "The data of this job is not in the store" } as const;

export function queueWithBlobs(queue: QueuePort, blobs: BlobStore | null): QueuePort {
  const asked = async (command: Command, ask: (stored: Command) => Promise<Answer>): Promise<Answer> => {
    const stored = await storeLarge(command, blobs);
    if (isStatus(stored)) return statusOnly(stored);
    const answer = await ask(stored);
    return answer === null ? null : ((await fetchLarge(answer, blobs)) ?? statusOnly(LOST_DATA));
  };
  return {
    ask: (tenant, command) => asked(command, (stored) => queue.ask(tenant, stored)),
    // What is waited for brings nothing that could be large.
    wait: (tenant, command, timeoutMs, gone) => asked(command, () => queue.wait(tenant, command, timeoutMs, gone)),
  };
}
