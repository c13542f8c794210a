import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { beginningOf } from "./beginnings.ts";
import { readRecord, zxidOf } from "./transaction-record.ts";
import type { LoggedOp, Transaction } from "./transaction.ts";

const MAGIC = "ZKLG";
const FILE_HEADER_BYTES = 16;
const RECORD_HEADER_BYTES = 12;
const END_OF_RECORD = 0x42;

/**
 * Every transaction of a ZooKeeper server in the order of its zxids. What a client was told is in the log before it is
 * told, so everything acknowledged is seen, also while the server runs. With `root`, the tree of a test, from its beginning.
 */
export function* readTransactions(logDir: string, root?: string): Generator<Transaction> {
  const since = beginningOf(root);
  const ephemerals = new EphemeralNodes();
  let last = -1n;
  for (const file of logFiles(logDir)) {
    for (const record of records(readFileSync(file))) {
      if (zxidOf(record) < since) continue;
      const transaction = ephemerals.follow(readRecord(record));
      if (transaction.zxid <= last) throw new Error(`${file}: zxid ${hex(transaction.zxid)} after ${hex(last)}`);
      last = transaction.zxid;
      yield transaction;
    }
  }
}

/** What became of the transactions that one session sent, in their order. A refused one names no node: only its session is known. */
export function sentBy(session: bigint, logDir: string, root?: string): readonly ("write" | "refused")[] {
  return [...readTransactions(logDir, root)].flatMap((each) =>
    each.session === session && (each.kind === "write" || each.kind === "refused") ? [each.kind] : [],
  );
}

export const hex = (zxid: bigint): string => `0x${zxid.toString(16)}`;

function logFiles(logDir: string): string[] {
  const firstZxid = (name: string): bigint => BigInt(`0x${name.slice("log.".length)}`);
  return readdirSync(logDir)
    .filter((name) => /^log\.[0-9a-f]+$/.test(name))
    .sort((a, b) => (firstZxid(a) < firstZxid(b) ? -1 : 1))
    .map((name) => join(logDir, name));
}

/**
 * A file ends in zeros, since space is allocated ahead, or in a torn record, if the server was killed or is writing just
 * now. A torn record was never acknowledged.
 */
function* records(bytes: Buffer): Generator<Buffer> {
  if (bytes.length < FILE_HEADER_BYTES) return;
  const magic = bytes.toString("latin1", 0, MAGIC.length);
  if (magic !== MAGIC) throw new Error(`not a ZooKeeper transaction log: begins with ${JSON.stringify(magic)}`);
  let at = FILE_HEADER_BYTES;
  while (at + RECORD_HEADER_BYTES < bytes.length) {
    const begin = at + RECORD_HEADER_BYTES;
    const end = begin + bytes.readInt32BE(begin - 4);
    if (end === begin || bytes[end] !== END_OF_RECORD) return;
    yield bytes.subarray(begin, end);
    at = end + 1;
  }
}

/** Knows which session owns what, for servers that do not log what the end of a session removed. */
class EphemeralNodes {
  private readonly bySession = new Map<bigint, Set<string>>();
  private readonly ownerOf = new Map<string, bigint>();

  follow(transaction: Transaction): Transaction {
    if (transaction.kind === "close-session") return this.complete(transaction);
    for (const op of transaction.ops) this.apply(op, transaction.session);
    return transaction;
  }

  private apply(op: LoggedOp, session: bigint): void {
    if (op.op === "create" && op.ephemeral) {
      this.ownerOf.set(op.path, session);
      const owned = this.bySession.get(session) ?? new Set();
      this.bySession.set(session, owned.add(op.path));
    } else if (op.op === "delete") {
      const owner = this.ownerOf.get(op.path);
      if (owner !== undefined) this.bySession.get(owner)?.delete(op.path);
      this.ownerOf.delete(op.path);
    }
  }

  private complete(transaction: Transaction): Transaction {
    const listed = transaction.ops.map(({ path }) => path);
    const paths = new Set([...listed, ...(this.bySession.get(transaction.session) ?? [])]);
    this.bySession.delete(transaction.session);
    for (const path of paths) this.ownerOf.delete(path);
    return { ...transaction, ops: [...paths].map((path) => ({ op: "delete", path })) };
  }
}
