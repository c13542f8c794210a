/** The logs of a whole fleet, line by line. */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { doubledKeys } from "@sluice/testkit";

export interface LogLine {
  readonly file: string;
  readonly text: string;
  readonly said: Readonly<Record<string, unknown>>;
}

/** Of every process that the fleet has started; throws where a line is no JSON. The last line of a killed one may be torn. */
export async function linesOf(dataDir: string): Promise<readonly LogLine[]> {
  const folder = join(dataDir, "logs");
  const files = await Promise.all(
    (await readdir(folder)).map(async (file) => ({ file, text: await readFile(join(folder, file), "utf8") })),
  );
  return files.flatMap(({ file, text }) =>
    text
      .split("\n")
      .slice(0, -1)
      .filter((line) => line.startsWith("{"))
      .map((line) => ({ file, text: line, said: JSON.parse(line) as Record<string, unknown> })),
  );
}

export const doubledIn = (lines: readonly LogLine[]): readonly string[] =>
  lines.flatMap(({ file, text }) => doubledKeys(text).map((key) => `${file}: ${key} stands twice in ${text}`));
