/** Programs that run handlers' scripts: which the runner has, and what of its files they need inside the walls. */
import { execFile } from "node:child_process";
import { readdir, realpath, stat } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import type { AskedInterpreter } from "./interpreter-settings.ts";
import { librariesOf } from "./libraries.ts";
import { findProgram } from "./find-program.ts";

export interface Interpreter {
  readonly name: string;
  readonly program: string;
  /** The program, its libraries and folders: seen inside where they stand outside. No one of them is inside another. */
  readonly files: readonly string[];
}

/** By name; a text says why there is none. */
export type Interpreters = ReadonlyMap<string, Interpreter | string>;

/** Null: Node itself. */
export function interpreterFor(lang: string, interpreters: Interpreters): Interpreter | null {
  const found = interpreters.get(lang);
  return found === undefined || typeof found === "string" ? null : found;
}

/** How those that most systems have tell where they look for their own files. */
const KNOWN: Readonly<Record<string, { readonly program: string; readonly ask: readonly string[] }>> = {
  php: {
    program: "php",
    ask: [
      "-r",
      'echo implode("\\n", [ini_get("extension_dir"), dirname((string) php_ini_loaded_file()), ...array_map("dirname", explode(",", (string) php_ini_scanned_files()))]);',
    ],
  },
  python: { program: "python3", ask: ["-I", "-c", "import sys; print('\\n'.join(sys.path))"] },
  perl: { program: "perl", ask: ["-e", 'print join "\\n", @INC'] },
  ruby: { program: "ruby", ask: ["-e", "puts $:"] },
};
/** Of what an interpreter says by itself: nobody's home, and nothing that changes. */
const OF_SYSTEM = /^\/(?:usr|lib\w*|opt|etc\/(?:php|perl|ruby|python)[^/]*)\//;
const ASK_MS = 20_000;
/** Files whose libraries are asked for. */
const MODULES_MOST = 2_000;

const run = promisify(execFile);

export async function findInterpreters(asked: readonly AskedInterpreter[]): Promise<Interpreters> {
  return new Map(await Promise.all(asked.map(async (each) => [each.name, await findOne(each)] as const)));
}

async function findOne({ name, program: place, folders }: AskedInterpreter): Promise<Interpreter | string> {
  const known = KNOWN[name];
  const at = place ?? (known === undefined ? null : await findProgram(known.program));
  if (at === null) return known === undefined ? `write ${name}=/path/of/its/program` : `there is no ${known.program}`;
  const program = await realpath(at).catch(() => null);
  if (program === null) return `there is no ${at}`;
  const own = place === null && known !== undefined ? await foldersBy(program, known.ask) : [];
  const all = withoutNested([...new Set([...folders, ...own])]);
  const libraries = await librariesOf([program, ...(await modulesIn(all))]);
  return { name, program, files: withoutNested([program, ...all, ...libraries]) };
}

async function foldersBy(program: string, ask: readonly string[]): Promise<readonly string[]> {
  const env = { PATH: "/usr/bin:/bin", HOME: "/nonexistent" };
  const { stdout } = await run(program, [...ask], { env, cwd: "/", timeout: ASK_MS }).catch(() => ({ stdout: "" }));
  const told = [...new Set(stdout.split("\n").map((line) => line.trim()))].filter((line) => OF_SYSTEM.test(line));
  const there = await Promise.all(told.map(async (path) => ((await isFolder(path)) ? [path] : [])));
  return there.flat();
}

const isFolder = (path: string): Promise<boolean> =>
  stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );

/** Extensions have libraries of their own. */
async function modulesIn(folders: readonly string[]): Promise<readonly string[]> {
  const modules: string[] = [];
  for (const folder of folders) {
    const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
    for (const entry of entries)
      if (entry.isFile() && /\.so(\.\d+)*$/.test(entry.name)) modules.push(join(entry.parentPath, entry.name));
  }
  return modules.slice(0, MODULES_MOST);
}

/** A place below another one is there with it, and could not be made in what is read-only. */
export const withoutNested = (paths: readonly string[]): readonly string[] =>
  [...new Set(paths)].filter((path) => !paths.some((other) => other !== path && path.startsWith(`${other}/`)));
