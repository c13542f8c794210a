/** Reading the tree as a reader of the documents would. */
import { readdir, readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";

export const ROOT = fileURLToPath(new URL("../../../", import.meta.url));

export const read = (path: string): Promise<string> => readFile(`${ROOT}${path}`, "utf8");

const NOT_OURS = new Set(["node_modules", "dist", "data", ".git", "coverage"]);

/** Paths below `folder`, relative to the root, that end with `ending`. */
export async function filesBelow(folder: string, ending: string): Promise<readonly string[]> {
  const entries = await readdir(`${ROOT}${folder}`, { withFileTypes: true });
  const found = await Promise.all(
    entries.map(async (entry): Promise<readonly string[]> => {
      const path = folder === "" ? entry.name : `${folder}/${entry.name}`;
      if (entry.isDirectory()) return NOT_OURS.has(entry.name) ? [] : await filesBelow(path, ending);
      return path.endsWith(ending) ? [path] : [];
    }),
  );
  return found.flat();
}

/** Hidden ones and what is not ours apart. */
export async function foldersIn(folder: string): Promise<readonly string[]> {
  const entries = await readdir(`${ROOT}${folder}`, { withFileTypes: true });
  const folders = entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
  return folders.filter((name) => !name.startsWith(".") && !NOT_OURS.has(name));
}

/** The sources of packages and services, all in one text each. */
export async function sources(): Promise<ReadonlyMap<string, string>> {
  const paths = [...(await filesBelow("packages", ".ts")), ...(await filesBelow("services", ".ts"))];
  const src = paths.filter((path) => path.split("/")[2] === "src");
  return new Map(await Promise.all(src.map(async (path) => [path, await read(path)] as const)));
}

export const matches = (text: string, pattern: RegExp): readonly string[] =>
  [...text.matchAll(pattern)].map((match) => match[1] ?? match[0]);

/** First cells of all tables whose head begins with one of `heads`. */
export function firstCells(markdown: string, heads: readonly string[]): readonly string[] {
  const cells: string[] = [];
  let inside = false;
  for (const line of markdown.split("\n")) {
    const first = /^\|([^|]*)\|/.exec(line)?.[1]?.trim();
    if (first === undefined) inside = false;
    else if (heads.includes(first)) inside = true;
    else if (inside && !/^-+$/.test(first)) cells.push(first);
  }
  return cells;
}
