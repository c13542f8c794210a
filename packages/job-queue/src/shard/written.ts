/** How much a job takes in a transaction. */
import { INLINE_DATA_BYTES } from "../limits.ts";
import { type Job, records } from "../records.ts";

/** Of paths, of what frames them, and of a directory that may have to be made. */
const OPS_BYTES = 400;

/** Measured, not guessed: what a record has taken up in a long life is far more than its name and its data. */
export function bytesOf(job: Job): number {
  const apart = Buffer.byteLength(job.data);
  const isInline = apart <= INLINE_DATA_BYTES;
  const record = records.job.encode(isInline ? job : { ...job, data: "" }).length;
  return OPS_BYTES + record + (isInline ? 0 : apart);
}
