import { extract, type Extract, type Header } from "tar-stream";

import { IoError } from "../outcome.ts";
import { decodeEntryName, type EntryName, entryNameOf } from "./entry-name.ts";
import { faultOfArchiveError } from "./fault.ts";
import type { Budget } from "./limits.ts";
import { damaged, storeEntry, type Unpacking, unwanted } from "./store-entry.ts";

/**
 * Names come with one character for each byte, and are ours to read. Headers from before POSIX have no mark, and are known
 * by their checksum. (The options are missing in the module's types.)
 */
const TAPE_OPTIONS = { filenameEncoding: "latin1", highWaterMark: 65_536, allowUnknownFormat: true };

type Entry = AsyncIterable<unknown> & { readonly header: Header; resume(): unknown };

/** What is known while the tape runs. */
interface Stand {
  /** The entry that was begun last. */
  last: string;
  zerosAtEnd: number;
  /** Why no more comes from the source. */
  broken?: unknown;
}

/** Unpacks while it reads: a tar has no directory to look at first. Throws an IoError. */
export async function unpackTar(
  source: AsyncIterable<Uint8Array>,
  budget: Budget,
  unpacking: Unpacking,
): Promise<void> {
  const tape = withFewGlobals(extract(TAPE_OPTIONS));
  const stand: Stand = { last: "", zerosAtEnd: 0 };
  const feeding = feed(measured(source, budget, unpacking, stand), tape, stand);
  try {
    for await (const entry of tape) await unpackEntry(entry, budget, unpacking, stand);
  } catch (error) {
    throw blame(error, stand);
  } finally {
    tape.destroy();
    await feeding;
  }
  if (stand.broken !== undefined) throw blame(stand.broken, stand);
  if (stand.zerosAtEnd < END_MARK_BYTES) throw damaged(after(stand), "it breaks off, for there is no end mark");
}

/** More than any packer writes: `git archive` writes one. */
const GLOBAL_RECORDS_MAX = 100;

/**
 * The module joins the records of a global header to those of every header that follows. Hundreds of thousands of them,
 * in a few hundred compressed bytes for each header, would take hours; so what it keeps of them is judged when it is set.
 */
function withFewGlobals(tape: Extract): Extract {
  let kept: object | null = null;
  return Object.defineProperty(tape, "_paxGlobal", {
    get: () => kept,
    set(records: object | null) {
      if (records !== null && Object.keys(records).length > GLOBAL_RECORDS_MAX)
        throw unwanted("", `its global header has more than ${GLOBAL_RECORDS_MAX} records`);
      kept = records;
    },
  });
}

/** A limit that was passed weighs more than the end that the tape came to by it; an entry's own fault more than the rest. */
function blame(error: unknown, stand: Stand): IoError {
  const cause = stand.broken instanceof IoError ? stand.broken : error;
  return new IoError(faultOfArchiveError(cause, after(stand)));
}

const after = ({ last }: Stand): string => (last === "" ? "" : `what follows ${last}`);

async function unpackEntry(entry: Entry, budget: Budget, unpacking: Unpacking, stand: Stand): Promise<void> {
  const { name, isFolder } = nameOf(entry.header);
  unpacking.goOn(name);
  budget.entry(name, isFolder || entry.header.type === "directory");
  refuseEntry(entry.header, name);
  stand.last = name;
  const { size, type } = entry.header;
  if (isFolder || type === "directory") {
    if (size > 0 && type !== "directory") throw unwanted(name, "it is a folder with content of its own");
    entry.resume();
  } else await storeEntry(unpacking, name, entry as AsyncIterable<Uint8Array>, { bytes: size });
}

/** Names in extended headers are UTF-8 by definition, and were decoded already; what was none is shown by U+FFFD. */
function nameOf({ name, pax, type }: Header): EntryName {
  const isExtended = typeof pax === "object" && pax !== null && "path" in pax;
  if (isExtended && name.includes("\uFFFD")) throw unwanted(name, "the name is no UTF-8");
  const raw = isExtended ? name : decodeEntryName(Buffer.from(name, "latin1"));
  return raw === "." && type === "directory" ? { name: "", isFolder: true } : entryNameOf(raw);
}

function refuseEntry({ type }: Header, name: string): void {
  if (type === "file" || type === "contiguous-file" || type === "directory") return;
  if (type === "link" || type === "symlink") throw unwanted(name, "it is a link");
  throw unwanted(name, "it is no file");
}

/** Two blocks of zeros end a tar; without them nobody can tell whether there was more. */
const END_MARK_BYTES = 1_024;

/** Headers without end are no entries, and take time as well. */
async function* measured(
  source: AsyncIterable<Uint8Array>,
  budget: Budget,
  { goOn }: Pick<Unpacking, "goOn">,
  stand: Stand,
): AsyncGenerator<Uint8Array> {
  for await (const chunk of source) {
    goOn(stand.last);
    budget.bytes(stand.last, chunk.byteLength);
    stand.zerosAtEnd = zerosAtEnd(chunk, stand.zerosAtEnd);
    yield chunk;
  }
}

function zerosAtEnd(chunk: Uint8Array, before: number): number {
  const last = chunk.findLastIndex((byte) => byte !== 0);
  return last === -1 ? before + chunk.byteLength : chunk.byteLength - 1 - last;
}

/** Never rejects. What came before the source broke is still unpacked, so that the entry to blame can be named. */
async function feed(chunks: AsyncIterable<Uint8Array>, tape: Extract, stand: Stand): Promise<void> {
  try {
    for await (const chunk of chunks) {
      if (tape.destroyed) return;
      if (!tape.write(chunk)) await roomOn(tape);
    }
  } catch (error) {
    stand.broken = error;
  }
  tape.end(null);
}

const roomOn = (tape: Extract): Promise<void> =>
  new Promise((resolve) => {
    const go = (): void => {
      tape.off("drain", go).off("close", go);
      resolve();
    };
    tape.on("drain", go).on("close", go);
    if (tape.destroyed) go();
  });
