import type { EachAnswer, Fault, MultiAnswer, Node, NodeAcl, Op, Stat } from "../port.ts";
import { codeOf, ERR, faultOf, OPCODE } from "./codes.ts";
import { JuteReader } from "./jute.ts";

export interface ConnectResponse {
  readonly timeoutMs: number;
  readonly sessionId: bigint;
  readonly password: Buffer;
}

/** A timeout of 0 or less says that the session we asked for has expired. */
export function decodeConnectResponse(frame: Buffer): ConnectResponse {
  const reader = new JuteReader(frame);
  reader.int();
  return { timeoutMs: reader.int(), sessionId: reader.long(), password: reader.bytes() };
}

export interface ReplyHeader {
  readonly xid: number;
  readonly zxid: bigint;
  readonly err: number;
  readonly body: Buffer;
}

export function decodeReply(frame: Buffer): ReplyHeader {
  const reader = new JuteReader(frame);
  return { xid: reader.int(), zxid: reader.long(), err: reader.int(), body: reader.rest() };
}

export interface WatchEvent {
  readonly change: "created" | "deleted" | "data" | "children";
  readonly path: string;
}

const CHANGES: ReadonlyMap<number, WatchEvent["change"]> = new Map([
  [1, "created"],
  [2, "deleted"],
  [3, "data"],
  [4, "children"],
]);

/** null for the kinds that we never ask for: a server that knows more of them must not stop us. */
export function decodeWatchEvent(body: Buffer): WatchEvent | null {
  const reader = new JuteReader(body);
  const change = CHANGES.get(reader.int());
  reader.int();
  return change === undefined ? null : { change, path: reader.text() };
}

function readStat(reader: JuteReader): Stat {
  const czxid = reader.long();
  const mzxid = reader.long();
  const ctime = Number(reader.long());
  const mtime = Number(reader.long());
  const version = reader.int();
  const cversion = reader.int();
  reader.int(); // version of the access list: nobody asks
  const ephemeralOwner = reader.long();
  const dataLength = reader.int();
  const numChildren = reader.int();
  const pzxid = reader.long();
  return { czxid, mzxid, pzxid, ctime, mtime, version, cversion, ephemeralOwner, dataLength, numChildren };
}

export function decodeStat(body: Buffer): Stat {
  return readStat(new JuteReader(body));
}

function readNode(reader: JuteReader): Node {
  return { data: reader.bytes(), stat: readStat(reader) };
}

export function decodeNode(body: Buffer): Node {
  return readNode(new JuteReader(body));
}

export function decodeChildren(body: Buffer): { readonly names: readonly string[]; readonly stat: Stat } {
  const reader = new JuteReader(body);
  return { names: reader.texts(), stat: readStat(reader) };
}

export function decodeAcl(body: Buffer): NodeAcl {
  const reader = new JuteReader(body);
  const count = reader.int();
  const entries = Array.from({ length: count }, () => ({
    permissions: reader.int(),
    scheme: reader.text(),
    id: reader.text(),
  }));
  // The list's version is the third of the stat's ints; two longs for zxids and two for times come first.
  for (let longs = 0; longs < 4; longs++) reader.long();
  reader.int();
  reader.int();
  return { entries, version: reader.int() };
}

/** One entry of a multi's answer. `done` ends the list. */
function readResultHeader(reader: JuteReader): { readonly opcode: number; readonly done: boolean } {
  const opcode = reader.int();
  const done = reader.bool();
  reader.int();
  return { opcode, done };
}

export function decodeMulti(body: Buffer, zxid: bigint, ops: readonly Op[]): MultiAnswer {
  const reader = new JuteReader(body);
  const stats: (Stat | null)[] = [];
  for (let header = readResultHeader(reader); !header.done; header = readResultHeader(reader)) {
    if (header.opcode === OPCODE.error) {
      // Ops before the failed one report 0, those after it "inconsistency": the first that is not 0 is to blame.
      const err = reader.int();
      if (err !== ERR.ok) return { ...refusedOp(err, ops[stats.length]), index: stats.length };
      stats.push(null);
    } else {
      stats.push(readOpResult(reader, header.opcode));
    }
  }
  return { ok: true, zxid, stats };
}

function refusedOp(err: number, op: Op | undefined): Fault {
  return faultOf(err, op === undefined ? "multi" : `${op.op} ${op.path}`);
}

function readOpResult(reader: JuteReader, opcode: number): Stat | null {
  if (opcode === OPCODE.setData) return readStat(reader);
  if (opcode === OPCODE.create) reader.skip();
  return null;
}

export function decodeMultiRead(body: Buffer): EachAnswer[] {
  const reader = new JuteReader(body);
  const answers: EachAnswer[] = [];
  for (let header = readResultHeader(reader); !header.done; header = readResultHeader(reader)) {
    answers.push(readOne(reader, header.opcode));
  }
  return answers;
}

function readOne(reader: JuteReader, opcode: number): EachAnswer {
  if (opcode === OPCODE.getData) return { kind: "node", node: readNode(reader) };
  if (opcode === OPCODE.getChildren) return { kind: "children", names: reader.texts() };
  const err = reader.int();
  return err === ERR.noNode ? { kind: "none" } : { kind: "error", code: codeOf(err) };
}
