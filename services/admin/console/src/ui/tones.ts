/** How states, kinds of events and levels look. What exists comes from the model; whatever is new here looks neutral. */
export type Tone = "idle" | "active" | "good" | "warn" | "bad";

const STATE_TONES: Readonly<Record<string, Tone>> = {
  Held: "warn",
  Completed: "good",
  Failed: "bad",
  Deleted: "idle",
  QUEUED: "idle",
  PAUSED: "warn",
  FINISHED: "good",
  FAILED: "bad",
  CANCELLED: "idle",
  ALIVE: "good",
  DEAD: "bad",
};

/** Never colour alone: each tone has its sign. */
export const SIGNS: Readonly<Record<Tone, string>> = { idle: "○", active: "◐", good: "✓", warn: "‖", bad: "✕" };

export const toneOfState = (state: string): Tone => STATE_TONES[state] ?? "active";

const EVENT_TONES: Readonly<Record<string, Tone>> = {
  create: "idle",
  takeover: "warn",
  done: "good",
  park: "warn",
  hold: "warn",
  retry: "warn",
  snooze: "idle",
  handback: "idle",
  fail: "bad",
  "op-fail": "bad",
  quarantine: "bad",
  adopt: "idle",
};

export const toneOfEvent = (kind: string): Tone => EVENT_TONES[kind] ?? "active";

const EVENT_WORDS: Readonly<Record<string, string>> = {
  create: "made",
  takeover: "taken over",
  done: "done",
  park: "parked: its collection is held",
  fail: "failed",
  retry: "will be tried again",
  snooze: "put off",
  handback: "handed back",
  quarantine: "given up after too many attempts",
  hold: "held",
  release: "released",
  resume: "resumed",
  "op-fail": "failed by an operator",
  delete: "deleted",
  adopt: "taken up: made by another program",
  beside: "moved by another program",
};

export const wordsOfEvent = (kind: string): string => EVENT_WORDS[kind] ?? kind;

export function toneOfLevel(level: string): Tone {
  if (level === "error" || level === "fatal") return "bad";
  return level === "warn" ? "warn" : "idle";
}
