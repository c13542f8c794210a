/** Which batches are this fleet's. A tree can hold Merritt's own beside them, which were not imported: hands off those. */

export interface BatchMarks {
  readonly isExpanded: boolean;
  /** In /fleet/batches, in whichever state. */
  readonly isListed: boolean;
  /** In all its buckets. */
  readonly jobs: number;
}

/**
 * Made here or imported. A batch of ours has an expansion from its first job on. That it is listed proves nothing for one
 * with jobs: an import writes the expansion last, and others may have listed it.
 */
export const isOurBatch = ({ isExpanded, isListed, jobs }: BatchMarks): boolean =>
  isExpanded || (isListed && jobs === 0);

export const NEVER_IMPORTED = "was never imported into this fleet: run `sluice import`";
