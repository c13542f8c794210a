/**
 * Jobs that are accepted before anybody who could store them is reached: numbered, on disk and in order. Lines are written
 * at the end and taken in from the front, by reservations. Records, their syncs, rotation and what is left after a crash are
 * the log's (`@sluice/journal`); here are lines, ids, and how far they have been read.
 */
import { join } from "node:path";
import { type Appended, type Journal, openJournal, Position } from "@sluice/journal";
import { type Form, idsOfBatch, isPlainType, type Line, parseBatch, printBatch, withoutEnd } from "./batch-text.ts";
import { GuestIds } from "./guest-ids.ts";
import { runsOf } from "./id-runs.ts";
import { Reservations } from "./reservations.ts";
import type { Failpoint, JobJournalOptions, JobJournalStats, Jobtype, ReadLines, Synced, Written } from "./types.ts";
import { WaitingLines } from "./waiting-lines.ts";

export type OpenedJobJournal =
  | { readonly ok: true; readonly journal: JobJournal }
  /** Another process has it, or it cannot be read. */
  | { readonly ok: false; readonly problem: string };

/** The bytes are the bound that matters. */
const MAX_RECORDS = 10_000_000;
const FULL: Written = { kind: "full", retryAfterMs: 5_000 };
/** More than what stands around a payload in its batch. */
const AROUND_BYTES = 150;
export const LINES_PER_WRITE = 10_000;

export async function openJobJournal(options: JobJournalOptions): Promise<OpenedJobJournal> {
  const { maxBytes, segmentBytes, clock, failpoint } = options;
  const opened = await openJournal({
    folder: join(options.folder, "log"),
    maxRecords: MAX_RECORDS,
    maxBytes,
    segmentBytes,
    clock,
    ...(failpoint === undefined ? {} : { failpoint }),
  });
  if (!opened.ok) return opened;
  options.log.opened(opened.report);
  try {
    const position = await Position.open(options.folder);
    const waiting = await waitingIn(opened.journal, options);
    const ids = await GuestIds.open(options.folder, Math.max(position.number, waiting.highest));
    const journal = new JobJournal(options, { log: opened.journal, position, ids, waiting: waiting.lines });
    await journal.dropRead();
    return { ok: true, journal };
  } catch (error) {
    await opened.journal.close();
    return { ok: false, problem: `the journal ${options.folder} cannot be read: ${String(error)}` };
  }
}

async function waitingIn(log: Journal, options: JobJournalOptions) {
  const lines = new WaitingLines();
  let highest = 0;
  for (const number of log.waiting()) {
    const record = await log.read(number);
    const runs = record.kind === "record" ? idsOfBatch(record.data) : null;
    const isNext = (runs?.[0]?.first ?? 0) > highest;
    if (runs === null) options.log.badRecord({ record: number, why: "it is no batch" });
    else if (!isNext) options.log.badRecord({ record: number, why: "its ids do not go on from those before" });
    // A record that cannot be read has its place, so that it goes when those before it have gone.
    lines.add(number, isNext ? (runs ?? []) : []);
    highest = Math.max(highest, runs?.at(-1)?.last ?? 0);
  }
  return { lines, highest };
}

interface Parts {
  readonly log: Journal;
  readonly position: Position;
  readonly ids: GuestIds;
  readonly waiting: WaitingLines;
}

interface Numbered {
  readonly ids: readonly number[];
  readonly appended: Promise<Appended>;
}

type NotNumbered = Extract<Written, { readonly kind: "no ids" | "failed" }>;

export class JobJournal {
  readonly #options: JobJournalOptions;
  readonly #parts: Parts;
  readonly #reservations: Reservations;
  readonly #underWay = new Set<Promise<Written>>();
  readonly #listeners = new Set<() => void>();
  /** Ids are given and records begun one after the other, so that both have one order. */
  #numbering: Promise<unknown> = Promise.resolve();
  #syncing: Promise<unknown> = Promise.resolve();
  /** Reservations of a large batch read the same record again and again. */
  #lastRead: { readonly record: number; readonly lines: readonly Line[] } | null = null;

  constructor(options: JobJournalOptions, parts: Parts) {
    this.#options = options;
    this.#parts = parts;
    this.#reservations = new Reservations(parts.waiting, parts.position.number);
  }

  /** Adds jobs of a type, a payload each; a line end after it is none of it. */
  write({ tenant, name }: Jobtype, lines: readonly (string | Uint8Array)[]): Promise<Written> {
    if (!isPlainType(name)) return Promise.resolve({ kind: "refused", why: "a type has no commas, bars or spaces" });
    return this.writeForm(
      "payload",
      tenant,
      lines.map((line) => ({ name, payload: withoutEnd(line) })),
    );
  }

  writeForm(
    form: Form,
    tenant: string,
    lines: readonly { readonly name: string; readonly payload: Uint8Array }[],
  ): Promise<Written> {
    if (lines.length === 0 || lines.length > LINES_PER_WRITE)
      return Promise.resolve({ kind: "refused", why: `1 to ${LINES_PER_WRITE} lines at a time` });
    const writing = this.#write(form, tenant, lines);
    this.#underWay.add(writing);
    // Whoever waits for the writing hears of its failure.
    writing.finally(() => this.#underWay.delete(writing)).catch(() => undefined);
    return writing;
  }

  /** When all that was begun before is on disk, or known to have failed; what comes later is not waited for. */
  async wsync(): Promise<boolean> {
    const written = await Promise.all(this.#underWay);
    return written.every(({ kind }) => kind !== "failed");
  }

  /** The oldest lines that nobody has, up to a number of them: ours until they are synced or the time is over. */
  readReserve(lines: number, timeoutMs: number): string {
    return this.#reservations.reserve(lines, timeoutMs, this.#now());
  }

  async read(token: string): Promise<ReadLines> {
    const reserved = this.#reservations.read(token, this.#now());
    if (typeof reserved === "string") return { ok: false, why: reserved };
    const range = reserved.lines;
    if (range === null) return { ok: true, lines: [] };
    const lines: Line[] = [];
    for (const record of this.#parts.waiting.recordsOf(range))
      for (const line of await this.#linesOf(record))
        if (range.first <= line.id && line.id <= range.last) lines.push(line);
    return { ok: true, lines };
  }

  /** What was read is stored elsewhere: it does not come again. On disk when it returns. */
  rsync(token: string): Promise<Synced> {
    const synced = this.#syncing.then(async (): Promise<Synced> => {
      const done = this.#reservations.sync(token, this.#now());
      if (typeof done === "string") return { ok: false, why: done };
      await this.#setPoint(done.point);
      return { ok: true };
    });
    this.#syncing = synced.catch(() => undefined);
    return synced;
  }

  /** The reader could not store them: its lines are in front again, without waiting for its time to be over. */
  release(token: string): void {
    this.#reservations.release(token);
  }

  /** A block of ids that was reserved for us. On disk when it returns. */
  addIds(first: number, last: number): Promise<void> {
    return this.#inTurn(() => this.#parts.ids.add(first, last));
  }

  /** Calls whenever lines were written; answers the way to stop it. */
  onWritten(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  stats(): JobJournalStats {
    const { bytes, usedRatio, oldestAgeMs, broken } = this.#parts.log.stats();
    return { lines: this.#parts.waiting.count, bytes, usedRatio, oldestAgeMs, idsLeft: this.#parts.ids.left, broken };
  }

  async close(): Promise<void> {
    await Promise.allSettled([this.#numbering, this.#syncing, ...this.#underWay]);
    await this.#parts.log.close();
    await this.#parts.position.close();
  }

  /** Records that were read to their end before the process died. */
  async dropRead(): Promise<void> {
    const record = this.#parts.waiting.forget(this.#reservations.point);
    if (record !== null) await this.#parts.log.consume(record);
  }

  async #write(
    form: Form,
    tenant: string,
    lines: readonly { readonly name: string; readonly payload: Uint8Array }[],
  ): Promise<Written> {
    // Asked first: an add that is refused uses no ids up.
    if (!this.#hasRoom(lines)) return FULL;
    const numbered = await this.#inTurn(async (): Promise<Numbered | NotNumbered> => {
      const ids = await this.#takeIds(lines.length);
      if ("kind" in ids) return ids;
      await this.#failpoint("jobsNumbered");
      const batch = lines.map((line, n) => ({ ...line, id: ids[n] ?? 0 }));
      return { ids, appended: this.#append(printBatch({ atMs: this.#now(), tenant, form, lines: batch }), ids) };
    });
    if ("kind" in numbered) return numbered;
    const appended = await numbered.appended;
    if (appended.kind === "full") return FULL;
    if (appended.kind === "failed") return appended;
    for (const listener of this.#listeners) listener();
    return { kind: "written", ids: numbered.ids };
  }

  async #takeIds(count: number): Promise<readonly number[] | NotNumbered> {
    try {
      return (await this.#parts.ids.take(count)) ?? { kind: "no ids" };
    } catch (error) {
      return { kind: "failed", why: String(error) };
    }
  }

  #hasRoom(lines: readonly { readonly payload: Uint8Array }[]): boolean {
    const bytes = lines.reduce((sum, { payload }) => sum + payload.length + AROUND_BYTES, 0);
    return this.#parts.log.stats().bytes + bytes <= this.#options.maxBytes;
  }

  async #append(bytes: Buffer, ids: readonly number[]): Promise<Appended> {
    const appended = await this.#parts.log.append(bytes);
    if (appended.kind === "appended") this.#parts.waiting.add(appended.number, runsOf(ids));
    return appended;
  }

  #inTurn<T>(act: () => Promise<T>): Promise<T> {
    const done = this.#numbering.then(act);
    this.#numbering = done.catch(() => undefined);
    return done;
  }

  async #linesOf(record: number): Promise<readonly Line[]> {
    if (this.#lastRead?.record === record) return this.#lastRead.lines;
    const read = await this.#parts.log.read(record);
    const batch = read.kind === "record" ? parseBatch(read.data) : read.kind === "damaged" ? read.why : "it is gone";
    if (typeof batch === "string") {
      this.#options.log.badRecord({ record, why: batch });
      return [];
    }
    for (const bad of batch.bad) this.#options.log.badLine(bad);
    this.#lastRead = { record, lines: batch.lines };
    return batch.lines;
  }

  async #setPoint(point: number): Promise<void> {
    if (point <= this.#parts.position.number) return;
    await this.#failpoint("jobsBeforePoint");
    await this.#parts.position.set(point);
    await this.#failpoint("jobsAfterPoint");
    await this.dropRead();
  }

  #now(): number {
    return this.#options.clock.nowMs();
  }

  async #failpoint(step: Failpoint): Promise<void> {
    await this.#options.failpoint?.(step);
  }
}
