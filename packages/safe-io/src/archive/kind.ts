import type { FileHandle } from "node:fs/promises";

export type ArchiveKind = "zip" | "tar" | "tar.gz" | "tar.bz2";

const HEAD_BYTES = 512;

/** By content: names of containers are often wrong. Undefined: none that we know. */
export async function archiveKind(handle: FileHandle): Promise<ArchiveKind | undefined> {
  const head = Buffer.alloc(HEAD_BYTES);
  const { bytesRead } = await handle.read(head, 0, HEAD_BYTES, 0);
  return kindOfHead(head.subarray(0, bytesRead));
}

export function kindOfHead(head: Buffer): ArchiveKind | undefined {
  const start = head.toString("latin1", 0, 4);
  if (start === "PK\u0003\u0004" || start === "PK\u0005\u0006") return "zip";
  if (start.startsWith("\u001F\u008B")) return "tar.gz";
  if (start.startsWith("BZh")) return "tar.bz2";
  return head.toString("latin1", 257, 262) === "ustar" ? "tar" : undefined;
}
