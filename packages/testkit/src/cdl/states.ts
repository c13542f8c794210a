/** The transitions of CDL's library with the state Storing, as its own validation has them. */
interface Row {
  readonly success?: string;
  readonly next: readonly string[];
}

const after = (success: string): Row => ({ success, next: [success, "Failed"] });

export const CDL_JOB_STATES: Readonly<Record<string, Row>> = {
  Pending: { next: ["Held", "Estimating", "Failed"] },
  Held: { next: ["Pending", "Deleted"] },
  Estimating: after("Provisioning"),
  Provisioning: after("Downloading"),
  Downloading: after("Processing"),
  Processing: after("Storing"),
  Storing: after("Recording"),
  Recording: after("Notify"),
  Notify: after("Completed"),
  Failed: {
    next: "Pending Estimating Provisioning Downloading Processing Storing Recording Notify Deleted".split(" "),
  },
  Completed: { next: [] },
  Deleted: { next: [] },
};

export const CDL_BATCH_STATES: Readonly<Record<string, Row>> = {
  Pending: { next: ["Held", "Processing"] },
  Held: { next: ["Pending", "Deleted"] },
  Processing: { success: "Reporting", next: ["Reporting", "Failed"] },
  Reporting: after("Completed"),
  UpdateReporting: after("Completed"),
  Failed: { next: ["UpdateReporting", "Deleted"] },
  Completed: { next: [] },
  Deleted: { next: [] },
};

export const BUCKET_OF: Readonly<Record<string, string>> = {
  Failed: "batch-failed",
  Completed: "batch-completed",
  Deleted: "batch-deleted",
};

/** What their validation throws. */
export class MerrittStateError extends Error {}

export function checkChange(table: Readonly<Record<string, Row>>, from: string, to: string): void {
  if (table[from]?.next.includes(to) !== true)
    throw new MerrittStateError(`State change (${from}->${to}) is not allowed`);
}
