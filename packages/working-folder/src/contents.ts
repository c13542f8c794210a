import { IoError, type Outcome, type UnpackedFile } from "@sluice/safe-io";
import type { ClaimFolder } from "./working-folder.ts";

/** What was in a container, one file a line; it is there only when all of them are. */
export const CONTENTS_FILE = "contents.jsonl";

export interface ContentsList {
  add(file: UnpackedFile): Promise<void>;
  finish(): Promise<Outcome<void>>;
  abandon(): Promise<void>;
}

export async function beginContents({ top }: ClaimFolder): Promise<Outcome<ContentsList>> {
  const file = await top.begin(CONTENTS_FILE);
  if (!file.ok) return file;
  const unfinished = file.value;
  const add = async ({ name, bytes, sha256 }: UnpackedFile): Promise<void> => {
    await unfinished.handle.writeFile(`${JSON.stringify({ name, bytes, sha256 })}\n`);
  };
  return { ok: true, value: { add, finish: () => unfinished.finish(), abandon: () => unfinished.abandon() } };
}

/** The files of the list; undefined ends it: the list is missing or damaged. Rejects with an IoError when the disk fails. */
export async function* readContents(claim: ClaimFolder | null): AsyncGenerator<UnpackedFile | undefined> {
  const stream = await claim?.top.readStream(CONTENTS_FILE);
  if (stream?.ok === false && stream.error.code !== "NOT_FOUND") throw new IoError(stream.error);
  if (stream?.ok !== true) {
    yield undefined;
    return;
  }
  for await (const line of linesOf(stream.value as AsyncIterable<Buffer>)) {
    const file = parseLine(line);
    yield file;
    if (file === undefined) return;
  }
}

/** Split at LF alone: a name may hold what others take for the end of a line. */
async function* linesOf(chunks: AsyncIterable<Buffer>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of chunks) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    yield* lines;
  }
  if (rest !== "") yield rest;
}

function parseLine(line: string): UnpackedFile | undefined {
  try {
    const { name, bytes, sha256 } = JSON.parse(line) as Partial<UnpackedFile>;
    const isWhole = typeof name === "string" && typeof bytes === "number" && typeof sha256 === "string";
    return isWhole ? { name, bytes, sha256 } : undefined;
  } catch {
    return undefined;
  }
}
