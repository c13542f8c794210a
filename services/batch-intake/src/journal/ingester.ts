/** Empties the journal into the queue, one record after the other, whenever there is a session. */
import { setTimeout as pause } from "node:timers/promises";
import type { Journal } from "@sluice/journal";
import { formatTimestamp } from "@sluice/queue-core";
import type { Log } from "@sluice/stage-runtime";
import type { JournalMetrics } from "../metrics.ts";
import type { Backlog } from "./backlog.ts";
import { decodeEntry, type Journaled } from "./entry.ts";
import { ingest, type IngestPorts, refuse } from "./ingest.ts";

export interface IngesterParts extends IngestPorts {
  readonly journal: Journal;
  readonly backlog: Backlog;
  readonly metrics: JournalMetrics;
  readonly log: Log;
  /** Between tries of a record that something is wrong with. */
  readonly tryAgainMs?: number;
}

/** In memory, while nothing waits; a look at the session, while something does. */
const LOOK_EVERY_MS = 200;
const TRY_AGAIN_MS = 1_000;
/** What went wrong so often will not go right: it must not hold up what waits behind it. */
const TRIES_MAX = 5;

type Turn = "next" | "idle" | "wait";

export class Ingester {
  readonly #parts: IngesterParts;
  readonly #stopping = new AbortController();
  #tries = { number: 0, count: 0 };
  #running: Promise<void> | null = null;

  constructor(parts: IngesterParts) {
    this.#parts = parts;
  }

  start(): void {
    this.#running ??= this.#run();
  }

  /** Finishes the record in hand. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
  }

  /** Goes on until nothing waits any more, or the signal aborts. */
  async drain(signal: AbortSignal): Promise<void> {
    const { backlog, log } = this.#parts;
    while (!backlog.isEmpty && !signal.aborted)
      await pause(LOOK_EVERY_MS, undefined, { signal }).catch(() => undefined);
    if (!backlog.isEmpty) log.warn({ waiting: backlog.stats().records }, "stopped with submissions in the journal");
    await this.stop();
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping;
    const { metrics, backlog, log } = this.#parts;
    while (!signal.aborted) {
      const turn = await this.#turn().catch((error: unknown): Turn => {
        log.error({ err: error }, "the journal could not be worked on");
        return "wait";
      });
      metrics.show(backlog.stats(), backlog.appended);
      if (turn === "next") continue;
      const ms = turn === "idle" ? LOOK_EVERY_MS : (this.#parts.tryAgainMs ?? TRY_AGAIN_MS);
      await pause(ms, undefined, { signal, ref: false }).catch(() => undefined);
    }
  }

  async #turn(): Promise<Turn> {
    const { journal, backlog, log, metrics } = this.#parts;
    const record = await journal.peek();
    if (record.kind === "none") return "idle";
    if (record.kind === "damaged") {
      log.error({ number: record.number, why: record.why }, "a journaled submission is damaged and is lost");
      metrics.damaged.inc();
      await backlog.consume(record.number, null);
      return "next";
    }
    const entry = decodeEntry(record.data);
    if (entry === null) return this.#refuseUnreadable(record.number, record.data);
    return this.#settle(record.number, entry);
  }

  async #settle(number: number, entry: Journaled): Promise<Turn> {
    const { backlog, log, metrics } = this.#parts;
    const { uuid } = entry;
    const result = await this.#bounded(number, entry);
    switch (result.kind) {
      case "later":
        return "idle";
      case "again":
        log.warn(
          { number, batch_uuid: uuid, why: result.why },
          "a journaled submission could not be ingested: trying again",
        );
        return "wait";
      case "ingested":
        await backlog.consume(number, uuid);
        log.info(
          { number, batch_uuid: uuid, batch_id: result.batch, replayed: result.replayed },
          "ingested from the journal",
        );
        metrics.ingested.inc();
        return "next";
      case "refused":
        await backlog.consume(number, uuid);
        log.error({ number, batch_uuid: uuid, why: result.why }, "a journaled submission was refused");
        metrics.refused.inc();
        return "next";
    }
  }

  async #bounded(number: number, entry: Journaled) {
    if (this.#tries.number !== number) this.#tries = { number, count: 0 };
    const result = await ingest(this.#parts, number, entry);
    // A disk that is full or away holds up all of them alike, and is waited for: nobody would gain by a refusal.
    if (result.kind !== "again" || result.passing || ++this.#tries.count < TRIES_MAX) return result;
    return refuse(this.#parts, number, entry, result.why);
  }

  async #refuseUnreadable(number: number, data: Buffer): Promise<Turn> {
    const { refused, backlog, log, metrics, clock } = this.#parts;
    const why = "the record is none that this version can read";
    const refused_at = formatTimestamp(clock.nowMs());
    const record = data.toString("base64");
    await refused.add({ uuid: null, number, refused_at, why, submission: null, files: null, record });
    await backlog.consume(number, null);
    log.error({ number, why }, "a journaled submission was refused");
    metrics.refused.inc();
    return "next";
  }
}
