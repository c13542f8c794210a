/** Tar streams as files, and files as tar streams. */
import { parseName } from "@sluice/safe-io";
import { Readable } from "node:stream";
import { extract, pack } from "tar-stream";

export interface FileEntry {
  /** Relative, with `/`. */
  readonly name: string;
  readonly bytes: number;
  /** To be read before the next entry is asked for. */
  readonly body: AsyncIterable<Uint8Array>;
}

/** Regular files alone, by names that stay inside: a container's author chooses both. */
export async function* entriesOf(source: AsyncIterable<Uint8Array>): AsyncGenerator<FileEntry> {
  const tape = extract();
  const feeding = Readable.from(source)
    .on("error", (error) => tape.destroy(error))
    .pipe(tape);
  try {
    for await (const entry of feeding as AsyncIterable<
      AsyncIterable<Uint8Array> & {
        readonly header: { readonly name: string; readonly type?: string | null; readonly size?: number };
        resume(): unknown;
      }
    >) {
      const { name, type, size = 0 } = entry.header;
      const plain = name.replace(/^(?:\.\/)+/, "");
      if (type === "file" && parseName(plain).ok) yield { name: plain, bytes: size, body: entry };
      entry.resume();
    }
  } finally {
    tape.destroy();
  }
}

export async function* only(
  files: AsyncIterable<FileEntry>,
  wanted: (name: string) => boolean,
): AsyncGenerator<FileEntry> {
  for await (const file of files) {
    if (wanted(file.name)) yield file;
    else for await (const _ of file.body) continue;
  }
}

export interface FilesetBounds {
  readonly files: number;
  readonly bytes: number;
}

/** What a container leaves is its author's choice: our disk is not. */
export async function* bounded(
  files: AsyncIterable<FileEntry>,
  most: FilesetBounds,
  what: "input" | "output",
): AsyncGenerator<FileEntry> {
  let [count, bytes] = [0, 0];
  for await (const file of files) {
    count += 1;
    bytes += file.bytes;
    if (count > most.files) throw new Error(`the ${what} has more than ${most.files} files`);
    if (bytes > most.bytes) throw new Error(`the ${what} has more than ${most.bytes} bytes`);
    yield file;
  }
}

/** Of a stream: files that nobody wants have to be read as well, and holes in files are read as zeros. */
export async function* atMost(
  source: AsyncIterable<Uint8Array>,
  bytes: number,
  refusal: string,
): AsyncGenerator<Uint8Array> {
  let read = 0;
  for await (const chunk of source) {
    read += chunk.length;
    if (read > bytes) throw new Error(refusal);
    yield chunk;
  }
}

export async function* renamed(
  files: AsyncIterable<FileEntry>,
  rename: (name: string) => string | null,
): AsyncGenerator<FileEntry> {
  for await (const file of files) {
    const name = rename(file.name);
    if (name !== null) yield { ...file, name };
    else for await (const _ of file.body) continue;
  }
}

export interface Owner {
  readonly uid: number;
  readonly gid: number;
}

/** With an owner, all files and the folders from `folder` downwards belong to it; the engine would give folders to root. */
export function packed(
  files: AsyncIterable<FileEntry>,
  owned: { readonly folder: string; readonly owner: Owner } | null = null,
): Readable {
  const tape = pack();
  const folders = new Set<string>();
  const write = async (): Promise<void> => {
    if (owned !== null) addFolder(owned.folder);
    for await (const file of files) {
      if (owned !== null) foldersOf(file.name, owned.folder).forEach(addFolder);
      await addFile(file);
    }
    tape.finalize();
  };
  const addFolder = (name: string): void => {
    if (folders.has(name)) return;
    folders.add(name);
    tape.entry({ name: `${name}/`, type: "directory", mode: 0o755, ...owned?.owner });
  };
  const addFile = ({ name, bytes, body }: FileEntry): Promise<void> =>
    new Promise((resolve, reject) => {
      const entry = tape.entry({ name, size: bytes, mode: 0o755, ...owned?.owner }, (error) =>
        error ? reject(error) : resolve(),
      );
      Readable.from(body).on("error", reject).pipe(entry);
    });
  write().catch((error: unknown) => tape.destroy(error instanceof Error ? error : new Error(String(error))));
  return Readable.from(tape);
}

/** Below the top, from above: `data/a/b.txt` is in `data/a`. */
function foldersOf(name: string, top: string): readonly string[] {
  const below = name.slice(top.length + 1).split("/");
  return below.slice(0, -1).map((_, at) => [top, ...below.slice(0, at + 1)].join("/"));
}

export async function wholeOf(source: AsyncIterable<Uint8Array>, maxBytes: number): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of source) {
    bytes += chunk.length;
    if (bytes > maxBytes) throw new Error(`the fileset is larger than ${maxBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
