/**
 * One transaction as a line: `CRC-32 [shard, term, number, zxid, ops]`, ops as ["c" or "s", path, data] or ["d", path], data that is
 * no UTF-8 in base64. Pure.
 */
import type { AppliedTransaction } from "@sluice/job-queue";
import { crc32 } from "node:zlib";

type PrintedOp =
  readonly ["c" | "s", string, string] | readonly ["c" | "s", string, string, "base64"] | readonly ["d", string];

export interface RedoOp {
  readonly path: string;
  /** What stands there from now on; null: nothing. */
  readonly data: Buffer | null;
}

export interface RedoTransaction {
  readonly shard: number;
  readonly term: number;
  readonly number: number;
  readonly zxid: bigint;
  readonly ops: readonly RedoOp[];
}

export function printLine({ shard, term, number, zxid, ops }: AppliedTransaction): string {
  const printed = ops.flatMap((op): PrintedOp[] => {
    if (op.op === "check") return [];
    if (op.op === "delete") return [["d", op.path]];
    const text = op.data.toString("utf8");
    const kind = op.op === "create" ? "c" : "s";
    return [
      Buffer.from(text).equals(op.data) ? [kind, op.path, text] : [kind, op.path, op.data.toString("base64"), "base64"],
    ];
  });
  const json = JSON.stringify([shard, term, number, zxid.toString(16), printed]);
  return `${checksum(json)} ${json}\n`;
}

/** Null: it is torn, or has changed. */
export function parseLine(line: string): RedoTransaction | null {
  const [sum, json] = [line.slice(0, CHECKSUM_DIGITS), line.slice(CHECKSUM_DIGITS + 1)];
  if (json === "" || checksum(json) !== sum) return null;
  const [shard, term, number, zxid, ops] = JSON.parse(json) as [number, number, number, string, readonly PrintedOp[]];
  return { shard, term, number, zxid: BigInt(`0x${zxid}`), ops: ops.map(parseOp) };
}

const parseOp = ([kind, path, data = "", encoding = "utf8"]: readonly string[]): RedoOp => ({
  path: path ?? "",
  data: kind === "d" ? null : Buffer.from(data, encoding === "base64" ? "base64" : "utf8"),
});

const CHECKSUM_DIGITS = 8;
const checksum = (text: string): string => crc32(text).toString(16).padStart(CHECKSUM_DIGITS, "0");
