/** Actions in words. Which there are, and when, the model says; a new one is called by its name. */
import type { Model } from "@sluice/wire";
import { sentence } from "../format.ts";

interface Words {
  readonly label: string;
  readonly danger?: true;
}

const JOB_WORDS: Readonly<Record<string, Words>> = {
  fail: { label: "Fail", danger: true },
  delete: { label: "Delete", danger: true },
  priority: { label: "Change priority" },
};

const BATCH_WORDS: Readonly<Record<string, Words>> = {
  delete: { label: "Delete", danger: true },
  "update-reporting": { label: "Update report" },
  "clean-up": { label: "Clean up" },
};

const wordsOf = (table: Readonly<Record<string, Words>>, action: string): Words =>
  table[action] ?? { label: sentence(action) };

/** What no table of states has. */
const BESIDES: Readonly<Record<string, string>> = {
  priority: "00 is taken first, 99 last.",
  "clean-up": "The batch leaves the queue now; the archive keeps what became of it.",
};

/** What it does, in the model's words. */
export const saysOf = (known: Model["job_actions"], action: string): string =>
  known.find((each) => each.action === action)?.says ?? BESIDES[action] ?? "";

export const jobWords = (action: string): Words => wordsOf(JOB_WORDS, action);
export const batchWords = (action: string): Words => wordsOf(BATCH_WORDS, action);

/** What cannot be undone stands last, away from what is pressed every day. */
export const harmlessFirst = (actions: readonly string[], words: (action: string) => Words): readonly string[] =>
  actions.toSorted((a, b) => Number(words(a).danger === true) - Number(words(b).danger === true));
