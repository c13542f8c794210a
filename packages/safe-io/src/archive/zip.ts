import type { FileHandle } from "node:fs/promises";
import { crc32 } from "node:zlib";
import { type Entry, fromFdPromise, type ZipFile } from "yauzl";

import { IoError } from "../outcome.ts";
import { decodeEntryName, type EntryName, entryNameOf } from "./entry-name.ts";
import { faultOfArchiveError } from "./fault.ts";
import type { Budget } from "./limits.ts";
import { refuseOverlaps, type Span } from "./overlaps.ts";
import { damaged, storeEntry, type Unpacking, unwanted } from "./store-entry.ts";

/**
 * First the whole directory is read and judged, then the files are unpacked: most of what can be wrong with a zip is known
 * before a byte is written. Throws an IoError.
 */
export async function unpackZip(handle: FileHandle, budget: Budget, unpacking: Unpacking): Promise<void> {
  await judge(await openZip(handle), handle, budget, unpacking);
  const zip = await openZip(handle);
  for await (const entry of entriesOf(zip)) {
    const { name, isFolder } = nameOf(entry);
    if (isFolder) continue;
    await storeEntry(unpacking, name, contentOf(zip, entry), { bytes: entry.uncompressedSize, crc32: entry.crc32 });
  }
}

/** Opened when it is read, and its errors are always heard: one that nobody hears ends the process. */
async function* contentOf(zip: ZipFile, entry: Entry): AsyncGenerator<Uint8Array> {
  const stream = await zip.openReadStreamPromise(entry);
  stream.on("error", () => undefined);
  yield* stream as AsyncIterable<Buffer>;
}

/** The file stays ours to close; names stay bytes, for us to read. */
async function openZip({ fd }: FileHandle): Promise<ZipFile> {
  try {
    return await fromFdPromise(fd, { autoClose: false, decodeStrings: false });
  } catch (error) {
    throw new IoError(faultOfArchiveError(error, ""));
  }
}

async function* entriesOf(zip: ZipFile): AsyncGenerator<Entry> {
  let last = "";
  try {
    for await (const entry of zip.eachEntry()) {
      last = decodeEntryName(entry.fileNameRaw);
      yield entry;
    }
  } catch (error) {
    throw new IoError(faultOfArchiveError(error, last === "" ? "" : `what follows ${last}`));
  }
}

async function judge(zip: ZipFile, handle: FileHandle, budget: Budget, { goOn }: Unpacking): Promise<void> {
  const spans: Span[] = [];
  for await (const entry of entriesOf(zip)) {
    const { name, isFolder } = nameOf(entry);
    goOn(name);
    budget.entry(name, isFolder);
    budget.bytes(name, entry.uncompressedSize);
    refuseEntry(entry, name, isFolder);
    spans.push(await spanOf(zip, entry, name));
  }
  refuseOverlaps(spans);
  await refuseMoreThanSaid(zip, handle);
}

/** Info-ZIP keeps the true name of what its own system could not spell in an extra field, bound to the plain name. */
const UNICODE_PATH = 0x7075;

function nameOf({ fileNameRaw, extraFields }: Entry): EntryName {
  const extra = extraFields.find(({ id, data }) => id === UNICODE_PATH && data.length > 5 && data[0] === 1)?.data;
  const isBound = extra?.readUInt32LE(1) === crc32(fileNameRaw);
  return entryNameOf(decodeEntryName(isBound ? extra.subarray(5) : fileNameRaw));
}

const FILE_TYPE = 0o170000;
/** Unix kinds of file: none (made elsewhere), file, folder. */
const HARMLESS: ReadonlySet<number> = new Set([0, 0o100000, 0o040000]);

function refuseEntry(entry: Entry, name: string, isFolder: boolean): void {
  if (entry.isEncrypted()) throw unwanted(name, "it is encrypted");
  if (!HARMLESS.has((entry.externalFileAttributes >>> 16) & FILE_TYPE))
    throw unwanted(name, "it is a link or a device");
  if (!entry.canDecodeFileData())
    throw unwanted(name, `its compression (method ${entry.compressionMethod}) is unusual`);
  if (isFolder && entry.uncompressedSize > 0) throw unwanted(name, "it is a folder with content of its own");
}

/** Where the entry lies. A second name in front of the content means that readers will differ about what is in here. */
async function spanOf(zip: ZipFile, entry: Entry, name: string): Promise<Span> {
  const header = await zip.readLocalFileHeaderPromise(entry).catch((error: unknown) => {
    throw new IoError(faultOfArchiveError(error, name));
  });
  if (!header.fileName.equals(entry.fileNameRaw)) {
    throw damaged(name, `before its content it is called ${JSON.stringify(decodeEntryName(header.fileName))}`);
  }
  const start = entry.relativeOffsetOfLocalHeader;
  return { name, start, end: header.fileDataStart + entry.compressedSize };
}

const ENTRY_SIGNATURE = 0x02014b50;

/** A directory that goes on after its announced end would silently lose files. */
async function refuseMoreThanSaid(zip: ZipFile, handle: FileHandle): Promise<void> {
  const next = Buffer.alloc(4);
  const { bytesRead } = await handle.read(next, 0, 4, Number(zip.readEntryCursor));
  if (bytesRead === 4 && next.readUInt32LE(0) === ENTRY_SIGNATURE) {
    throw damaged("", `it has more entries than the ${zip.entryCount} it says`);
  }
}
