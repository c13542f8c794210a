import type { LoadedJob, Guard, ReadyCandidate } from "@sluice/queue-core";

/** Finds jobs to claim. */
export interface Picker {
  /** Up to `free` jobs that may be claimed now. `except`: none of this collection, and none of which it is not known. */
  pick(free: number, except?: string): Promise<readonly ReadyCandidate[]>;
  /** After an empty pick: how long to wait unless something wakes the loop. */
  idleMs(): number;
}

/** Whether a job may go on, decided at its commit and proven there by a guard. */
export type Permit =
  | { readonly kind: "go"; readonly guard: Guard }
  /** Its collection is held. */
  | { readonly kind: "park"; readonly why: string; readonly guard: Guard }
  /** Not now: it goes back into its queue. */
  | { readonly kind: "wait"; readonly delayMs: number; readonly why: string };

export interface Passage {
  /** Before the work: is it worth starting? */
  before(loaded: LoadedJob): Promise<Permit>;
  /** At the commit of a job that is done; `refused` is the guard of the last try, if the tree refused it. */
  after(loaded: LoadedJob, refused: Guard | null): Promise<Permit>;
  /** What became of a commit under that guard. */
  settled?(loaded: LoadedJob, guard: Guard, applied: boolean): void;
}

const OPEN: Permit = { kind: "go", guard: [] };

export const openPassage: Passage = {
  before: () => Promise.resolve(OPEN),
  after: () => Promise.resolve(OPEN),
};
