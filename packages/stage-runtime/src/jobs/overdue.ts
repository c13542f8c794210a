/** Jobs that have waited in a stage for over a day are taken next, whatever their priority: nothing starves. */
import { type JobId, type JobState, paths, type QueueEntry } from "@sluice/queue-core";
import type { Session } from "@sluice/zookeeper";
import type { Scope } from "../engine/scope.ts";

export const OVERDUE_MS = 24 * 60 * 60_000;
const SCAN_EVERY_MS = 60_000;
const SCAN_MAX = 500;

/** A queue as listed just now. */
export interface Entries {
  readonly length: number;
  at(position: number): QueueEntry;
  /** -1: it is not there. */
  positionOf(entry: QueueEntry): number;
}

/** Looks at the age of the entries in turn, a few hundred a minute. */
export class OverdueScan {
  readonly #session: Session;
  readonly #state: JobState;
  readonly #onFound: (id: JobId, waitedMs: number) => void;
  /** Since when they wait. */
  readonly #overdue = new Map<JobId, { readonly entry: QueueEntry; readonly sinceMs: number }>();
  #scannedAtMs = -Infinity;
  #next = 0;

  constructor(session: Session, state: JobState, onFound: (id: JobId, waitedMs: number) => void) {
    this.#session = session;
    this.#state = state;
    this.#onFound = onFound;
  }

  static of({ queue, metrics, actor, log }: Scope, state: JobState): OverdueScan {
    return new OverdueScan(queue.session, state, (id, waitedMs) => {
      metrics.overdue.inc({ stage: actor.stage });
      log.warn({ job_id: id, waited_ms: waitedMs }, "a job has waited for over a day: taken next");
    });
  }

  list(): readonly QueueEntry[] {
    return [...this.#overdue.values()].map(({ entry }) => entry);
  }

  has(id: JobId): boolean {
    return this.#overdue.has(id);
  }

  /** By the server's clock; undefined = it is not overdue. */
  since(id: JobId): number | undefined {
    return this.#overdue.get(id)?.sinceMs;
  }

  async look(entries: Entries, nowMs: number): Promise<void> {
    if (entries.length === 0 || nowMs - this.#scannedAtMs < SCAN_EVERY_MS) return;
    this.#scannedAtMs = nowMs;
    if (this.#next >= entries.length) this.#next = 0;
    const count = Math.min(SCAN_MAX, entries.length - this.#next);
    const part = Array.from({ length: count }, (_, i) => entries.at(this.#next + i));
    const answers = await this.#session.readEach(
      part.map(({ priority, id }) => ({ get: paths.queueEntry(this.#state, priority, id) })),
    );
    if (!answers.ok) return;
    this.#forgetGone(entries);
    this.#next += part.length;
    for (const [i, answer] of answers.value.entries()) {
      const entry = part[i];
      if (entry !== undefined && answer.kind === "node") this.#weigh(entry, answer.node.stat.ctime);
    }
  }

  #weigh(entry: QueueEntry, sinceMs: number): void {
    const waitedMs = this.#session.serverNowMs() - sinceMs;
    if (waitedMs <= OVERDUE_MS || this.#overdue.has(entry.id)) return;
    this.#overdue.set(entry.id, { entry, sinceMs });
    this.#onFound(entry.id, waitedMs);
  }

  #forgetGone(entries: Entries): void {
    for (const [id, { entry }] of this.#overdue) if (entries.positionOf(entry) === -1) this.#overdue.delete(id);
  }
}
