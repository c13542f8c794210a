import { aclBytes, type Acl, type AclOf } from "../acl.ts";
import type { Op, Read } from "../port.ts";
import { rooted } from "../paths.ts";
import { OPCODE, XID } from "./codes.ts";
import { JuteWriter } from "./jute.ts";

/** A whole frame: length, number of the request (written when it is sent, see `numberFrame`), opcode, payload. */
export interface EncodedRequest {
  readonly opcode: number;
  readonly frame: Buffer;
}

const EPHEMERAL = 1;
const PERSISTENT = 0;
/** On the wire -1 is "whatever the version": we send it only for checks that ask for existence alone. */
const ANY_VERSION = -1;
const HEADER_BYTES = 12;
const MULTI_HEADER_BYTES = 9;
const CREATE_EXTRA_BYTES = 8;

export function numberFrame(frame: Buffer, xid: number): Buffer {
  frame.writeInt32BE(xid, 4);
  return frame;
}

function begin(xid: number, opcode: number, capacity = 256): JuteWriter {
  const writer = new JuteWriter(HEADER_BYTES + capacity);
  writer.int(0);
  writer.int(xid);
  writer.int(opcode);
  return writer;
}

function encodeRead(opcode: number, path: string, watch: boolean): EncodedRequest {
  const writer = begin(0, opcode);
  writer.text(path);
  writer.bool(watch);
  return { opcode, frame: writer.finishFrame() };
}

export const encodeExists = (path: string, watch: boolean): EncodedRequest => encodeRead(OPCODE.exists, path, watch);
export const encodeGetData = (path: string, watch: boolean): EncodedRequest => encodeRead(OPCODE.getData, path, watch);
export const encodeGetChildren = (path: string, watch: boolean): EncodedRequest =>
  encodeRead(OPCODE.getChildren2, path, watch);

function multiHeader(writer: JuteWriter, opcode: number, done: boolean): void {
  writer.int(opcode);
  writer.bool(done);
  writer.int(-1);
}

/** What an op takes in a multi, about: an upper bound for paths without a chroot. */
export function opBytes(op: Op, aclOf: AclOf): number {
  const fixed = MULTI_HEADER_BYTES + 4 + Buffer.byteLength(op.path) + 4;
  if (op.op === "create") return fixed + 4 + op.data.length + CREATE_EXTRA_BYTES + aclBytes(aclOf(op.path));
  return op.op === "set" ? fixed + 4 + op.data.length : fixed;
}

function writeAcl(writer: JuteWriter, acl: readonly Acl[]): void {
  writer.int(acl.length);
  for (const entry of acl) {
    writer.int(entry.permissions);
    writer.text(entry.scheme);
    writer.text(entry.id);
  }
}

function writeOp(writer: JuteWriter, op: Op, root: string, aclOf: AclOf): void {
  const path = rooted(root, op.path);
  switch (op.op) {
    case "create":
      multiHeader(writer, OPCODE.create, false);
      writer.text(path);
      writer.bytes(op.data);
      writeAcl(writer, aclOf(op.path));
      writer.int(op.ephemeral === true ? EPHEMERAL : PERSISTENT);
      return;
    case "set":
      multiHeader(writer, OPCODE.setData, false);
      writer.text(path);
      writer.bytes(op.data);
      writer.int(op.version);
      return;
    case "delete":
      multiHeader(writer, OPCODE.delete, false);
      writer.text(path);
      writer.int(op.version);
      return;
    case "check":
      multiHeader(writer, OPCODE.check, false);
      writer.text(path);
      writer.int(op.version ?? ANY_VERSION);
  }
}

/** About, and cheaply: the writer makes more room when it needs some. */
const OP_ROOM = 64;
function roomFor(ops: readonly Op[], root: string): number {
  let bytes = MULTI_HEADER_BYTES;
  for (const op of ops)
    bytes += OP_ROOM + root.length + op.path.length + (op.op === "create" || op.op === "set" ? op.data.length : 0);
  return bytes;
}

export function encodeMulti(ops: readonly Op[], root: string, aclOf: AclOf): EncodedRequest {
  const writer = begin(0, OPCODE.multi, roomFor(ops, root));
  for (const op of ops) writeOp(writer, op, root, aclOf);
  multiHeader(writer, -1, true);
  return { opcode: OPCODE.multi, frame: writer.finishFrame() };
}

export function encodeGetAcl(path: string): EncodedRequest {
  const writer = begin(0, OPCODE.getAcl);
  writer.text(path);
  return { opcode: OPCODE.getAcl, frame: writer.finishFrame() };
}

export function encodeSetAcl(path: string, acl: readonly Acl[], version: number): EncodedRequest {
  const writer = begin(0, OPCODE.setAcl);
  writer.text(path);
  writeAcl(writer, acl);
  writer.int(version);
  return { opcode: OPCODE.setAcl, frame: writer.finishFrame() };
}

export function encodeMultiRead(reads: readonly Read[], root: string): EncodedRequest {
  const writer = begin(0, OPCODE.multiRead, reads.length * 64);
  for (const read of reads) {
    multiHeader(writer, "get" in read ? OPCODE.getData : OPCODE.getChildren, false);
    writer.text(rooted(root, "get" in read ? read.get : read.children));
    writer.bool(false);
  }
  multiHeader(writer, -1, true);
  return { opcode: OPCODE.multiRead, frame: writer.finishFrame() };
}

export function encodePing(): Buffer {
  return begin(XID.ping, OPCODE.ping).finishFrame();
}

export function encodeCloseSession(): EncodedRequest {
  return { opcode: OPCODE.closeSession, frame: begin(0, OPCODE.closeSession).finishFrame() };
}

export function encodeAuth(scheme: string, secret: Buffer): Buffer {
  const writer = begin(XID.auth, OPCODE.auth);
  writer.int(0);
  writer.text(scheme);
  writer.bytes(secret);
  return writer.finishFrame();
}

export type WatchKind = "data" | "exists" | "children";
export interface WatchedPath {
  readonly kind: WatchKind;
  readonly path: string;
}

/** Java's client sends its watches in portions of this size too: one frame must stay far below the server's 1 MiB. */
const SET_WATCHES_BYTES = 128 * 1024;

/** Tells a server that we reconnected to which watches we have and what we saw last; it answers with what we missed. */
export function encodeSetWatches(lastZxid: bigint, watched: readonly WatchedPath[]): Buffer[] {
  return portions(watched).map((portion) => {
    const writer = begin(XID.setWatches, OPCODE.setWatches, SET_WATCHES_BYTES);
    writer.long(lastZxid);
    for (const kind of ["data", "exists", "children"] as const) {
      writer.texts(portion.filter((watch) => watch.kind === kind).map((watch) => watch.path));
    }
    return writer.finishFrame();
  });
}

function portions(watched: readonly WatchedPath[]): WatchedPath[][] {
  const result: WatchedPath[][] = [];
  let room = 0;
  for (const watch of watched) {
    const size = 4 + Buffer.byteLength(watch.path);
    const last = result.at(-1);
    if (last === undefined || size > room) {
      result.push([watch]);
      room = SET_WATCHES_BYTES - size;
    } else {
      last.push(watch);
      room -= size;
    }
  }
  return result;
}
