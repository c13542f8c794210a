/**
 * Sessions over which the queue may be served: those that show the tree of this fleet. Whoever is handed one makes frames
 * and counters in it, and must not do so in a ZooKeeper that came back empty.
 */
import { paths as queuePaths } from "@sluice/job-queue";
import { paths, readIdentity } from "@sluice/queue-core";
import type { Session, SessionKeeper } from "@sluice/zookeeper";
import { setTimeout as pause } from "node:timers/promises";

export type SessionSource = Pick<SessionKeeper, "current" | "onSession">;

/** False: not yet, or not this one. */
export type Admit = (session: Session) => Promise<boolean>;

const LOOK_EVERY_MS = 200;

export class AdmittedSessions implements SessionSource {
  readonly #source: SessionSource;
  readonly #admit: Admit;
  readonly #listeners = new Set<(session: Session) => void>();
  readonly #stopListening: () => void;
  readonly #stopped = new AbortController();
  #admitted: Session | null = null;

  constructor(source: SessionSource, admit: Admit) {
    this.#source = source;
    this.#admit = admit;
    this.#stopListening = source.onSession((session) => this.#begin(session));
  }

  current(): Session | null {
    return this.#admitted !== null && this.#source.current() === this.#admitted ? this.#admitted : null;
  }

  onSession(listener: (session: Session) => void): () => void {
    this.#listeners.add(listener);
    const session = this.current();
    if (session !== null) listener(session);
    return () => this.#listeners.delete(listener);
  }

  stop(): void {
    this.#stopListening();
    this.#stopped.abort();
  }

  /** What throws is a mistake of ours, and is tried again like silence. */
  #begin(session: Session): void {
    this.#wait(session).catch(() => setTimeout(() => this.#begin(session), LOOK_EVERY_MS).unref());
  }

  async #wait(session: Session): Promise<void> {
    const over = AbortSignal.any([session.lost, this.#stopped.signal]);
    while (!over.aborted) {
      if (await this.#admit(session)) {
        this.#admitted = session;
        for (const listener of [...this.#listeners]) listener(session);
        return;
      }
      await pause(LOOK_EVERY_MS, undefined, { signal: over, ref: false }).catch(() => undefined);
    }
  }
}

/** The tree that the service itself has accepted; `accepted` is its /fleet/id, null while there is none. */
export function showsTree(accepted: () => string | null): Admit {
  return async (session) => {
    const wanted = accepted();
    if (wanted === null) return false;
    const found = await readIdentity({ session });
    return found.ok && found.identity.history === wanted;
  };
}

/** Another ensemble holds shards alone. One that is empty was never prepared, or was lost. */
export const holdsQueue: Admit = async (session) => {
  const there = await session.readMany([paths.restoring, paths.fleetId, queuePaths.layout].map((get) => ({ get })));
  if (!there.ok) return false;
  const [restoring, id, layout] = there.value;
  return restoring?.kind !== "node" && (id?.kind === "node" || layout?.kind === "node");
};
