/** What a handler says has happened. The engine decides what it means: states, attempts and delays are not its business. */
import type { BatchEnding, ErrorCode, JobChanges } from "@sluice/queue-core";
import type { Op } from "@sluice/zookeeper";

/** Not now, and nobody's fault ("volume 83 % full"): no attempt is counted. */
export interface Snooze {
  readonly kind: "snooze";
  readonly delayMs: number;
  readonly why: string;
}

/** A passing failure: tried again with backoff, Failed when the attempts are used up. */
export interface Retry {
  readonly kind: "retry";
  readonly code: ErrorCode;
  readonly message: string;
  /** What the other side asked for (Retry-After), if it did. */
  readonly delayMs?: number;
}

/** Whoever worked on it elsewhere is gone without a word: the job is let go as if this process had died with it. */
export interface WorkerDied {
  readonly kind: "worker-died";
  readonly why: string;
}

export type Outcome =
  | { readonly kind: "done"; readonly changes: JobChanges }
  | Snooze
  | Retry
  | WorkerDied
  | { readonly kind: "fail"; readonly code: ErrorCode; readonly message: string; readonly changes?: JobChanges };

export type BatchOutcome = BatchEnding | Snooze | Retry;

/** An inbox item is finished with, or stays for later. */
export type InboxOutcome = Consumed | Snooze | Retry;

export interface Consumed {
  readonly kind: "consumed";
  /** What is written in the multi that takes the item away; asked for again when it was planned against an older tree. */
  readonly leaving?: () => Promise<readonly Op[]>;
}

export const done = (changes: JobChanges = {}): Outcome => ({ kind: "done", changes });
export const snooze = (delayMs: number, why: string): Snooze => ({ kind: "snooze", delayMs, why });
export const retry = (code: ErrorCode, message: string, delayMs?: number): Retry =>
  delayMs === undefined ? { kind: "retry", code, message } : { kind: "retry", code, message, delayMs };
export const fail = (code: ErrorCode, message: string): Outcome => ({ kind: "fail", code, message });
export const workerDied = (why: string): WorkerDied => ({ kind: "worker-died", why });
export const consumed: Consumed = { kind: "consumed" };
