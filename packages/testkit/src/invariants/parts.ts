/** The part of a job or batch that a node belongs to: who may write it depends on that. */
import type { BatchId, JobId, PathMeaning } from "@sluice/queue-core";

export type Part = "node" | "status" | "lock" | "data" | "history" | "entry" | "bucket" | "cursor" | "report";

export interface PartOf {
  readonly id: JobId | BatchId;
  readonly part: Part;
}

/** null: of no job and no batch, or free for all to write. */
export function partOf(meaning: PathMeaning): PartOf | null {
  switch (meaning.kind) {
    case "job":
      return { id: meaning.job, part: "node" };
    case "job-node":
      return { id: meaning.job, part: partOfNode(meaning.name) };
    case "fleet-job":
      return { id: meaning.job, part: "history" };
    case "queue-entry":
      return { id: meaning.job, part: "entry" };
    // Moves with the job, under the job's lock.
    case "bucket-entry":
      return { id: meaning.job, part: "bucket" };
    case "batch":
      return { id: meaning.batch, part: "node" };
    case "batch-node":
      return { id: meaning.batch, part: partOfNode(meaning.name) };
    case "bucket":
      return { id: meaning.batch, part: "bucket" };
    case "expansion":
      return { id: meaning.batch, part: "cursor" };
    case "fleet-batch":
      return { id: meaning.batch, part: "entry" };
    default:
      return null;
  }
}

function partOfNode(name: string): Part {
  if (name === "status" || name === "lock") return name;
  return name === "status-report" ? "report" : "data";
}

/** Whether nothing but these was written. */
export const only = (wrote: ReadonlySet<Part>, ...allowed: readonly Part[]): boolean =>
  [...wrote].every((part) => allowed.includes(part));
