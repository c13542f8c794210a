/** Whether work may be claimed just now: pauses of the queue and the stage, a drained worker, a suspended session. */
import { type Holds, paths, readHolds } from "@sluice/queue-core";
import type { Clock, Session, Watch } from "@sluice/zookeeper";
import { Watched } from "./watched.ts";

export const CLOSED_REASONS = ["suspended", "queue-paused", "stage-paused", "drained"] as const;
export type ClosedReason = (typeof CLOSED_REASONS)[number];

/** A watch that was lost costs so much. */
const MAX_AGE_MS = 30_000;

export class Gate {
  readonly #session: Session;
  readonly #stage: string;
  readonly #holds: Watched<Holds>;
  readonly #merritts: readonly Watched<true>[];
  readonly #drained: Watched<boolean>;
  readonly #listeners = new Set<() => void>();

  constructor(session: Session, actor: { readonly stage: string; readonly worker: string }, clock: Clock) {
    this.#session = session;
    this.#stage = actor.stage;
    const onChange = (): void => {
      for (const listener of this.#listeners) listener();
    };
    const common = { clock, maxAgeMs: MAX_AGE_MS, onChange };
    this.#holds = new Watched({ ...common, read: (watch) => watchedHolds(session, watch) });
    const onMerritts = (): void => {
      this.#holds.invalidate();
      onChange();
    };
    this.#merritts = [paths.collectionLocks, paths.queueLocks].map(
      (path) => new Watched({ ...common, onChange: onMerritts, read: (watch) => watchedNames(session, path, watch) }),
    );
    this.#drained = new Watched({ ...common, read: (watch) => isDrained(session, actor.worker, watch) });
    session.onState(onChange);
  }

  onChange(listener: () => void): void {
    this.#listeners.add(listener);
  }

  /** null = the tree could not be read. */
  async holds(): Promise<Holds | null> {
    const watched = await Promise.all(this.#merritts.map((names) => names.fresh()));
    return watched.includes(null) ? null : await this.#holds.fresh();
  }

  /** A guard made from the holds was refused: they have changed, whatever the watch says. */
  holdsChanged(): void {
    this.#holds.invalidate();
  }

  async closedBecause(): Promise<ClosedReason | null> {
    if (this.#session.state !== "connected") return "suspended";
    const [holds, drained] = await Promise.all([this.holds(), this.#drained.fresh()]);
    if (holds === null || drained === null) return "suspended";
    if (holds.queuePaused) return "queue-paused";
    if (holds.pausedStages.has(this.#stage)) return "stage-paused";
    return drained ? "drained" : null;
  }
}

/** Every hold and pause of ours also sets the counter: one watch on it is enough for them, set before anything is read. */
async function watchedHolds(session: Session, watch: Watch | undefined): Promise<Holds | null> {
  if (watch !== undefined && !(await session.get(paths.holds, watch)).ok) return null;
  const holds = await readHolds(session);
  return holds.ok ? holds.value : null;
}

/** Merritt's tools make and remove the nodes alone. What the names are is read with the holds. */
async function watchedNames(session: Session, path: string, watch: Watch | undefined): Promise<true | null> {
  return watch === undefined || (await session.children(path, watch)).ok ? true : null;
}

async function isDrained(session: Session, worker: string, watch: Watch | undefined): Promise<boolean | null> {
  const answer = await session.exists(paths.drain(worker), watch);
  return answer.ok ? answer.value !== null : null;
}
