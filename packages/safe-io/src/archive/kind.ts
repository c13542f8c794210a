import type { FileHandle } from "node:fs/promises";

export type ArchiveKind = "zip" | "tar" | "tar.gz" | "tar.bz2" | "gz" | "bz2";

/** What the first bytes tell: a container, or a compression with something in it. */
export type OuterKind = "zip" | "tar" | "gz" | "bz2";

/** A tar's header, and more than any other kind needs. */
export const HEAD_BYTES = 512;

/** By content: names of containers are often wrong. Undefined: none that we know. */
export async function outerKind(handle: FileHandle): Promise<OuterKind | undefined> {
  const head = Buffer.alloc(HEAD_BYTES);
  const { bytesRead } = await handle.read(head, 0, HEAD_BYTES, 0);
  return kindOfHead(head.subarray(0, bytesRead));
}

export function kindOfHead(head: Buffer): OuterKind | undefined {
  const start = head.toString("latin1", 0, 4);
  if (start === "PK\u0003\u0004" || start === "PK\u0005\u0006") return "zip";
  if (start.startsWith("\u001F\u008B")) return "gz";
  if (/^BZh[1-9]$/.test(start)) return "bz2";
  return isTarHeader(head) ? "tar" : undefined;
}

/** Tars from before POSIX bear no mark, but every header has its checksum. */
export function isTarHeader(head: Buffer): boolean {
  if (head.toString("latin1", 257, 262) === "ustar") return true;
  const sum = /^ *([0-7]{1,6})[\0 ]/.exec(head.toString("latin1", 148, 156))?.[1];
  return head.length === HEAD_BYTES && sum !== undefined && parseInt(sum, 8) === headerSum(head);
}

/** The place of the sum itself counts as blanks. */
const headerSum = (head: Buffer): number =>
  head.reduce((sum, byte, at) => sum + (at >= 148 && at < 156 ? 0x20 : byte), 0);

/** Names that promise a tar below their compression. */
export const promisesTar = (name: string): boolean => /\.(?:tar\.[^./]+|tgz|tarz|tbz2?|tz2)$/i.test(name);

/** What a compressed file is called without its compression; undefined: its name does not tell. */
export function bareName(name: string): string | undefined {
  return /^(.*)\.(?:gz|bz2?|bzip2)$/is.exec(name.slice(name.lastIndexOf("/") + 1))?.[1];
}
