/** Actions in words. Which there are, and when, the model says; a new one is called by its name. */
import { sentence } from "../format.ts";

interface Words {
  readonly label: string;
  readonly says: string;
  readonly danger?: true;
}

const JOB_WORDS: Readonly<Record<string, Words>> = {
  hold: { label: "Hold", says: "The job rests until somebody releases it." },
  release: { label: "Release", says: "The job goes on from where it was held." },
  resume: { label: "Resume", says: "The job goes on after the last stage that succeeded, or from an earlier one." },
  fail: { label: "Fail", says: "The job is taken from its worker, whatever that is doing, and fails.", danger: true },
  delete: { label: "Delete", says: "The job is given up for good.", danger: true },
  priority: { label: "Change priority", says: "00 is taken first, 99 last." },
};

const BATCH_WORDS: Readonly<Record<string, Words>> = {
  release: { label: "Release", says: "The batch goes on." },
  delete: { label: "Delete", says: "The batch is given up, with all its jobs.", danger: true },
  "update-reporting": {
    label: "Update report",
    says: "The depositor is told what has changed since the last report.",
  },
  "clean-up": { label: "Clean up", says: "The batch leaves the queue now; the archive keeps what became of it." },
};

const wordsOf = (table: Readonly<Record<string, Words>>, action: string): Words =>
  table[action] ?? { label: sentence(action), says: "" };

export const jobWords = (action: string): Words => wordsOf(JOB_WORDS, action);
export const batchWords = (action: string): Words => wordsOf(BATCH_WORDS, action);

/** What cannot be undone stands last, away from what is pressed every day. */
export const harmlessFirst = (actions: readonly string[], words: (action: string) => Words): readonly string[] =>
  actions.toSorted((a, b) => Number(words(a).danger === true) - Number(words(b).danger === true));
