/** A database as the inventory uses it, whatever its kind. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Kysely, Transaction } from "kysely";
import type { MakeTables } from "./audit-tables.ts";
import type { Found, Refused, Unavailable } from "./inventory.ts";
import type { InventoryTables } from "./tables.ts";

export type Tx = Transaction<InventoryTables>;

export interface Fault {
  readonly fault: Refused | Unavailable;
  /** Worth another try at once: a deadlock, a race for a unique key, a connection that broke. */
  readonly again: boolean;
}

export interface Database {
  readonly db: Kysely<InventoryTables>;
  /** What a database's own errors mean; null = none of them. */
  readonly sortError: (error: unknown) => Fault | null;
  /** Makes the tables if that is still to be done. */
  readonly ready: () => Promise<void>;
  /** Those of the archived audit, which no migration makes. */
  readonly makeAuditTables: MakeTables;
  /** How often a transaction is tried before the caller hears of it. */
  readonly tries: number;
}

export type Answer<T> =
  { readonly ok: true; readonly value: T } | { readonly ok: false; readonly fault: Refused | Unavailable };

/** A reader's answer; null is nothing. */
export function found<T>(answer: Answer<T | null>): Found<T> {
  if (!answer.ok) return { kind: "unavailable", message: answer.fault.message };
  return answer.value === null ? { kind: "none" } : { kind: "found", value: answer.value };
}

/** One transaction, tried again from its beginning where that helps. An answer to the commit that was lost is a try that failed: work must be idempotent. */
export const inTransaction = <T>(database: Database, work: (tx: Tx) => Promise<T>): Promise<Answer<T>> =>
  patiently(database, () => database.db.transaction().execute(work));

/** One statement that only reads. */
export const reading = <T>(database: Database, work: (db: Database["db"]) => Promise<T>): Promise<Answer<T>> =>
  patiently(database, () => work(database.db));

async function patiently<T>({ sortError, ready, tries }: Database, work: () => Promise<T>): Promise<Answer<T>> {
  for (let count = 1; ; count += 1) {
    try {
      await ready();
      return { ok: true, value: await work() };
    } catch (error) {
      const sorted = sortError(error);
      if (sorted === null) throw error;
      if (!sorted.again || count >= tries) return { ok: false, fault: sorted.fault };
    }
    await sleep(backoffMs(count));
  }
}

const FIRST_PAUSE_MS = 50;

/** Those that met in a deadlock must not meet again. */
const backoffMs = (count: number): number => FIRST_PAUSE_MS * 2 ** (count - 1) * (0.5 + Math.random());
