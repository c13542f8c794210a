/** What became of a batch that the tree does not know, and what is to be done about it. Pure. */
import type { BatchId, BatchPlace, BatchUuid, Submission } from "@sluice/queue-core";
import { uploadNames } from "@sluice/working-folder";

/** All that is known of a batch outside the tree. */
export interface Evidence {
  /** null: only the inventory knows it, or its record cannot be read. */
  readonly place: BatchPlace | null;
  /** Its number; its UUID where that is all we know. */
  readonly batch: string;
  /** What was accepted; null: its record is not there. */
  readonly accepted: { readonly uuid: BatchUuid; readonly submission: Submission } | null;
  /** Why its record does not count. */
  readonly badRecord: string | null;
  /** Where its folder is; null: it has none. */
  readonly folder: string | null;
  /** Names of the files that came with its submission. */
  readonly uploads: readonly string[];
  /** Its manifest was fetched and found good. */
  readonly isStarted: boolean;
  /** The subject of the mail that told its depositor how it ended. */
  readonly told: string | null;
  readonly tree: TreeSays;
  /** The archive has it: it ended, and was cleaned up. */
  readonly isArchived: boolean;
  /** Versions that its jobs have recorded; null: the inventory was not asked. */
  readonly recorded: number | null;
}

/** Of its UUID and its number. */
export type TreeSays =
  | { readonly kind: "unknown" }
  /** The same submission came again, and is another batch now. */
  | { readonly kind: "came-again"; readonly batch: BatchId }
  /** The number is another batch's. */
  | { readonly kind: "number-taken" };

/** How far it came, as far as is known. */
export type Reached = "accepted" | "started" | "recorded" | "reported" | "archived";

export type Verdict =
  /** From its record, under its own number. */
  | "make-again"
  /** All that was promised has been done and said. */
  | "ended"
  /** The same submission is in the queue under another number. */
  | "came-again"
  /** What its depositor sent is not there any more. */
  | "uploads-gone"
  /** Nothing says what was asked for. */
  | "no-record"
  /** What was done for it is found only under its number, which is another batch's. */
  | "number-taken"
  /** Versions of it are recorded; nothing else is left. */
  | "recorded-only";

export interface Judgement {
  readonly verdict: Verdict;
  readonly reached: Reached;
  /** For people. */
  readonly todo: string;
  /** Its depositor cannot know, and must be told by a person. */
  readonly tell: boolean;
}

export function judge(evidence: Evidence): Judgement {
  const verdict = verdictOn(evidence);
  return { verdict, reached: reachedBy(evidence), ...ADVICE[verdict] };
}

function verdictOn(evidence: Evidence): Verdict {
  const { accepted, told, tree, isArchived, uploads, place, badRecord } = evidence;
  if (isArchived || told !== null) return "ended";
  if (tree.kind === "came-again") return "came-again";
  if (place === null && badRecord === null) return "recorded-only";
  if (accepted === null) return "no-record";
  if (!hasAll(accepted.submission, uploads)) return "uploads-gone";
  return tree.kind === "number-taken" ? "number-taken" : "make-again";
}

/** Every file that came with the submission is there. */
const hasAll = (submission: Submission, there: readonly string[]): boolean =>
  uploadNames(submission).every((name) => there.includes(name));

function reachedBy({ isArchived, told, recorded, isStarted }: Evidence): Reached {
  if (isArchived) return "archived";
  if (told !== null) return "reported";
  if ((recorded ?? 0) > 0) return "recorded";
  return isStarted ? "started" : "accepted";
}

const ADVICE: Readonly<Record<Verdict, Pick<Judgement, "todo" | "tell">>> = {
  "make-again": { todo: "--create makes it again", tell: false },
  ended: { todo: "nothing; --forget removes what is left of it", tell: false },
  "came-again": { todo: "nothing; --forget removes what is left of the first one", tell: false },
  "uploads-gone": { todo: "its depositor must send the files again", tell: true },
  "no-record": { todo: "look at the files there; its depositor must submit it again", tell: true },
  "number-taken": {
    todo: "its depositor must submit it again; what was stored before is stored once more",
    tell: true,
  },
  "recorded-only": {
    todo: "nothing is lost that was recorded; ask its depositor whether all of it is there",
    tell: true,
  },
};

/** A batch that was named is made again also where nothing asks for it, as long as it can be. */
export const canBeMade = ({ accepted, tree, uploads, place }: Evidence): boolean =>
  place !== null && accepted !== null && tree.kind === "unknown" && hasAll(accepted.submission, uploads);

export const canBeForgotten = (verdict: Verdict): boolean => verdict === "ended" || verdict === "came-again";
