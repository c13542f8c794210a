/** A queue whose callers need not know what is too large for the tree: it goes to the store of blobs and comes from there. */
import {
  type BlobRef,
  type BlobStore,
  type Command,
  fetchLarge,
  isStatus,
  type QueuePort,
  type Status,
  storeLarge,
} from "@sluice/job-queue";
import { type Answer, statusOnly } from "./queue-port.ts";

const LOST_DATA = { code: 503, text: "The data of this job is not in the store" } as const;
/** Surely not done: nobody was asked. */
const FULL: Status = { code: 503, text: "What is this large cannot be stored just now", retryAfterMs: 10_000 };

/** `onError`: the disk, say. Only the command that met it fails. */
export function queueWithBlobs(
  queue: QueuePort,
  blobs: BlobStore | null,
  onError: (error: unknown) => void = () => undefined,
): QueuePort {
  const readable = blobs && nullOnFailure(blobs, onError);
  const stored = async (command: Command): Promise<Command | Status> => {
    try {
      return await storeLarge(command, blobs);
    } catch (error) {
      onError(error);
      return FULL;
    }
  };
  const asked = async (command: Command, ask: (stored: Command) => Promise<Answer>): Promise<Answer> => {
    const given = await stored(command);
    if (isStatus(given)) return statusOnly(given);
    const answer = await ask(given);
    return answer === null ? null : ((await fetchLarge(answer, readable)) ?? statusOnly(LOST_DATA));
  };
  return {
    ask: (tenant, command) => asked(command, (given) => queue.ask(tenant, given)),
    // What is waited for brings nothing that could be large.
    wait: (tenant, command, timeoutMs, gone) => asked(command, () => queue.wait(tenant, command, timeoutMs, gone)),
  };
}

/** What cannot be read is as good as lost to who asks now: others of the same answer must not be lost with it. */
function nullOnFailure(blobs: BlobStore, onError: (error: unknown) => void): BlobStore {
  return {
    put: (bytes) => blobs.put(bytes),
    get: async (ref: BlobRef) => {
      try {
        return await blobs.get(ref);
      } catch (error) {
        onError(error);
        return null;
      }
    },
  };
}
