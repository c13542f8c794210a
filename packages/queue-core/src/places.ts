/** What names the folders of batches and jobs: a number alone could be one of another history of the tree. */
import { FIRST_EPOCH } from "./fleet-identity.ts";
import { type BatchId, type JobId, parseBatchId } from "./ids.ts";

export interface BatchPlace {
  readonly batchId: BatchId;
  /** In which the batch was made; restored with its tree it keeps it. */
  readonly batchEpoch: number;
}

export interface JobPlace extends BatchPlace {
  readonly id: JobId;
}

interface Born {
  readonly epoch?: number | undefined;
}

export const placeOfBatch = (batch: { readonly id: BatchId; readonly submission: Born }): BatchPlace => ({
  batchId: batch.id,
  batchEpoch: batch.submission.epoch ?? FIRST_EPOCH,
});

export const placeOfJob = (job: {
  readonly id: JobId;
  readonly batchId: BatchId;
  readonly configuration: Born;
}): JobPlace => ({ id: job.id, batchId: job.batchId, batchEpoch: job.configuration.epoch ?? FIRST_EPOCH });

/** As versions that know no epochs write it, where there is only the first: both work on one tree. */
export const printEpoch = (epoch: number): number | undefined => (epoch === FIRST_EPOCH ? undefined : epoch);

/** Without an epoch: of a batch that was made before there were any. */
const BATCH_FOLDER = /^(bid\d{10})(?:-([1-9]\d{0,14}))?$/;

/** The name of a batch's folder in the working folder. */
export const batchFolder = ({ batchId, batchEpoch }: BatchPlace): string =>
  batchEpoch === FIRST_EPOCH ? batchId : `${batchId}-${batchEpoch}`;

export const jobFolder = (job: JobPlace): string => `${batchFolder(job)}/${job.id}`;

/** Null for any other name. */
export function parseBatchFolder(name: string): BatchPlace | null {
  const [, id, epoch] = BATCH_FOLDER.exec(name) ?? [];
  const batchId = id === undefined ? null : parseBatchId(id);
  const batchEpoch = epoch === undefined ? FIRST_EPOCH : Number(epoch);
  if (batchId === null || (epoch !== undefined && batchEpoch === FIRST_EPOCH)) return null;
  return { batchId, batchEpoch };
}
