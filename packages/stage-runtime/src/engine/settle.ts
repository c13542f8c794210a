/** What an outcome means: the one place that knows attempts, delays and the table. Pure. */
import { type Ending, givenUpMessage, type JobState, jobRow, type Wait } from "@sluice/queue-core";
import type { Outcome, Retry } from "../outcome.ts";
import { retryDelayMs } from "./backoff.ts";

export interface GiveBack {
  readonly kind: "back";
  readonly how: "snooze" | "retry" | "handback";
  readonly wait: Wait;
}

/** The lock goes, and nothing else changes. */
export interface Leave {
  readonly kind: "leave";
  readonly why: string;
}

export type Verdict = { readonly kind: "end"; readonly ending: Ending } | GiveBack | Leave;

export interface Circumstances {
  readonly state: JobState;
  /** 1 for the first. */
  readonly attempt: number;
  readonly attemptsMax: number;
  /** In [0, 1). */
  readonly chance: number;
}

export function verdictOn(outcome: Outcome, at: Circumstances): Verdict {
  switch (outcome.kind) {
    case "done":
      return { kind: "end", ending: outcome };
    case "snooze":
      return {
        kind: "back",
        how: "snooze",
        wait: { delayMs: outcome.delayMs, why: outcome.why, countsAttempt: false },
      };
    case "retry":
      return tryAgain(outcome, at);
    case "worker-died":
      return { kind: "leave", why: outcome.why };
    case "fail":
      // A state without a way to fail says so on purpose: a stage that fails a job there has a bug.
      return jobRow(at.state).fail === null
        ? tryAgain({ kind: "retry", code: "UNEXPECTED", message: `${outcome.code}: ${outcome.message}` }, at)
        : { kind: "end", ending: outcome };
  }
}

function tryAgain(outcome: Retry, at: Circumstances): Verdict {
  const reason = `${outcome.code}: ${outcome.message}`;
  if (at.attempt >= at.attemptsMax) return givenUp(at, outcome);
  const delayMs = outcome.delayMs ?? retryDelayMs(at.attempt, at.chance);
  return { kind: "back", how: "retry", wait: { delayMs, why: reason, countsAttempt: true } };
}

function givenUp({ state, attempt }: Circumstances, { code, message }: Retry): Verdict {
  return jobRow(state).fail === null
    ? { kind: "end", ending: { kind: "quarantine", message: givenUpMessage(`${code}: ${message}`, attempt) } }
    : { kind: "end", ending: { kind: "fail", code, message: givenUpMessage(message, attempt) } };
}

/** Its workers died before they could say anything, as often as attempts are allowed. */
export const isPoison = (attemptsBefore: number, attemptsMax: number): boolean => attemptsBefore >= attemptsMax;

export const poisonVerdict = (attemptsBefore: number): Verdict => ({
  kind: "end",
  ending: { kind: "quarantine", message: `${attemptsBefore} attempts ended without an outcome: its workers died` },
});

/** Cut short by us, not by the job: as if it had not been taken. */
export const handBack = (why: string): GiveBack => ({
  kind: "back",
  how: "handback",
  wait: { delayMs: 0, why, countsAttempt: false },
});
