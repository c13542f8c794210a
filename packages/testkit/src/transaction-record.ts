import { JuteReader } from "./jute.ts";
import { OPCODE } from "./opcodes.ts";
import type { LoggedOp, Transaction } from "./transaction.ts";

const ZXID_AT = 12; // behind the session and the client's number of the request

/** Without reading the rest. */
export const zxidOf = (record: Buffer): bigint => record.readBigInt64BE(ZXID_AT);

/** One record of the log: a header, the change, and from ZooKeeper 3.6 on a digest of the tree, which we ignore. */
export function readRecord(bytes: Buffer): Transaction {
  const reader = new JuteReader(bytes);
  const session = reader.long();
  reader.int(); // the client's number of the request
  const zxid = reader.long();
  const timeMs = reader.time();
  const type = reader.int();
  return { zxid, session, timeMs, ...readBody(type, reader) };
}

function readBody(type: number, reader: JuteReader): Pick<Transaction, "kind" | "ops"> {
  switch (type) {
    case OPCODE.createSession:
      return { kind: "create-session", ops: [] };
    case OPCODE.closeSession:
      return { kind: "close-session", ops: readClosePaths(reader) };
    case OPCODE.error:
      return { kind: "refused", ops: [] };
    case OPCODE.multi:
      return readMulti(reader);
    default: {
      const op = readOp(type, reader);
      return op === null ? { kind: "other", ops: [] } : { kind: "write", ops: [op] };
    }
  }
}

/** Servers before 3.6 list no paths. What follows then is at most a digest of 12 bytes, too short to hold one. */
function readClosePaths(reader: JuteReader): LoggedOp[] {
  const DIGEST_BYTES = 12;
  if (reader.left <= DIGEST_BYTES) return [];
  return reader.vector(() => ({ op: "delete" as const, path: reader.string() }));
}

function readMulti(reader: JuteReader): Pick<Transaction, "kind" | "ops"> {
  const parts = reader.vector(() => ({ type: reader.int(), bytes: reader.buffer() }));
  // A refused multi is logged with every op replaced by an error.
  if (parts.some(({ type }) => type === OPCODE.error)) return { kind: "refused", ops: [] };
  const ops = parts.map(({ type, bytes }) => readOp(type, new JuteReader(bytes)));
  return { kind: "write", ops: ops.filter((op) => op !== null) };
}

/** null for what changes no node's data: ACLs. */
function readOp(type: number, reader: JuteReader): LoggedOp | null {
  switch (type) {
    case OPCODE.create:
    case OPCODE.create2:
      return readCreate(reader, true);
    case OPCODE.createContainer:
    case OPCODE.createTtl:
      return readCreate(reader, false);
    case OPCODE.delete:
    case OPCODE.deleteContainer:
      return { op: "delete", path: reader.string() };
    case OPCODE.setData:
    case OPCODE.reconfig:
      return { op: "set", path: reader.string(), data: Buffer.from(reader.buffer()), version: reader.int() };
    case OPCODE.check:
      // The server logs the version after the one it compared.
      return { op: "check", path: reader.string(), version: reader.int() - 1 };
    default:
      return null;
  }
}

function readCreate(reader: JuteReader, mayBeEphemeral: boolean): LoggedOp {
  const path = reader.string();
  const data = Buffer.from(reader.buffer());
  reader.vector(() => [reader.int(), reader.string(), reader.string()]); // the ACL
  return { op: "create", path, data, ephemeral: mayBeEphemeral && reader.bool() };
}
