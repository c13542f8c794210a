import { parseName } from "../disk/names.ts";
import { IoError } from "../outcome.ts";

const UTF8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Old packers wrote names in the encoding of their system: what is no UTF-8 is read as ISO-8859-1, as Merritt does. */
export function decodeEntryName(raw: Uint8Array): string {
  try {
    return UTF8.decode(raw);
  } catch {
    return Buffer.from(raw).toString("latin1");
  }
}

export interface EntryName {
  /** Checked; empty for the folder itself. */
  readonly name: string;
  readonly isFolder: boolean;
}

/** `tar c .` writes `./` before every name: it says nothing, and is all that is ever taken off. Throws an IoError. */
export function entryNameOf(raw: string): EntryName {
  const bare = raw.replace(/^(?:\.\/)+/, "");
  if (bare === "" && raw !== "") return { name: "", isFolder: true };
  const isFolder = bare.endsWith("/");
  const name = isFolder ? bare.slice(0, -1) : bare;
  const parsed = parseName(name);
  if (!parsed.ok) throw new IoError(parsed.error);
  return { name, isFolder };
}
