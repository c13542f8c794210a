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
export async function* bounded(files: AsyncIterable<FileEntry>, most: FilesetBounds): AsyncGenerator<FileEntry> {
  let [count, bytes] = [0, 0];
  for await (const file of files) {
    count += 1;
    bytes += file.bytes;
    if (count > most.files) throw new Error(`the output has more than ${most.files} files`);
    if (bytes > most.bytes) throw new Error(`the output has more than ${most.bytes} bytes`);
    yield file;
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

export function packed(files: AsyncIterable<FileEntry>): Readable {
  const tape = pack();
  const write = async (): Promise<void> => {
    for await (const { name, bytes, body } of files) {
      await new Promise<void>((resolve, reject) => {
        const entry = tape.entry({ name, size: bytes, mode: 0o755 }, (error) => (error ? reject(error) : resolve()));
        Readable.from(body).on("error", reject).pipe(entry);
      });
    }
    tape.finalize();
  };
  write().catch((error: unknown) => tape.destroy(error instanceof Error ? error : new Error(String(error))));
  return Readable.from(tape);
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
