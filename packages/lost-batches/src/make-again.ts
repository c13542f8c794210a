/** Makes lost batches again, and takes away what is left of those that need it no more. Each may be done again. */
import { rm } from "node:fs/promises";
import { type BatchUuid, createBatch, type CreateResult, type IdBlocks, type QueueContext } from "@sluice/queue-core";
import { type AcceptedBatches, openAcceptedBatches } from "@sluice/working-folder";
import type { Evidence } from "./judge.ts";

export type MadeAgain =
  /** By us, or by somebody else meanwhile. */
  | { readonly kind: "made" }
  | { readonly kind: "refused"; readonly why: string }
  /** ZooKeeper does not answer: what was not answered may be there, and is found the next time. */
  | { readonly kind: "lost" };

/** Under its own number and epoch: names of its jobs hold both, and what was done for them is found by those names. */
export async function makeAgain(ctx: QueueContext, ids: IdBlocks, { place, accepted }: Evidence): Promise<MadeAgain> {
  if (place === null || accepted === null) return { kind: "refused", why: "there is no record of it" };
  const { uuid, submission } = accepted;
  return madeAgain(await createBatch(ctx, ids, { uuid, submission, id: place.batchId, epoch: place.batchEpoch }));
}

function madeAgain(created: CreateResult): MadeAgain {
  switch (created.kind) {
    case "created":
    case "replayed":
      return { kind: "made" };
    case "lost":
      return created;
    case "conflict":
      return { kind: "refused", why: `${created.id} was submitted under the same key with other content` };
    case "refused":
      return { kind: "refused", why: created.detail };
  }
}

export interface Forgetting {
  forget(evidence: Evidence): Promise<string | null>;
}

/** Null: it is gone; else why not. The folder first: a record without a folder is still told of. */
export async function openForgetting(workingDir: string): Promise<Forgetting> {
  const records = await openAcceptedBatches(workingDir);
  return {
    async forget({ folder, accepted }) {
      try {
        if (folder !== null) await rm(folder, { recursive: true, force: true });
        return accepted === null ? null : await removeRecord(records, accepted.uuid);
      } catch (error) {
        return error instanceof Error ? error.message : String(error);
      }
    },
  };
}

async function removeRecord(records: AcceptedBatches, uuid: BatchUuid): Promise<string | null> {
  const removed = await records.remove(uuid);
  return removed.ok ? null : removed.error.message;
}
