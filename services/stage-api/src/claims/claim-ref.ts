/** What callers name a claim by: the job, the claim's random id, and the process that holds it. */
import { type JobId, parseJobId } from "@sluice/queue-core";

export interface ClaimRef {
  readonly job: JobId;
  /** As it stands on the lock, and in the history when it has been settled. */
  readonly id: string;
  /** The worker that its stage-api is. */
  readonly holder: string;
}

const FORM = /^(jid\d{10})\.([A-Za-z0-9_-]{8,40})\.([A-Za-z0-9][A-Za-z0-9._-]{0,63})$/;

export const printClaim = ({ job, id, holder }: ClaimRef): string => `${job}.${id}.${holder}`;

/** null: it was not given by a stage-api. */
export function parseClaim(raw: string): ClaimRef | null {
  const [, rawJob = "", id = "", holder = ""] = FORM.exec(raw) ?? [];
  const job = parseJobId(rawJob);
  return job === null ? null : { job, id, holder };
}
