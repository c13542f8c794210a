/** The published packages as a stranger gets them: packed, installed into a fresh folder. */
import { execFile } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { cp, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
/** The others are private. */
export const PUBLISHED = readdirSync(join(ROOT, "packages")).filter((name) =>
  readFileSync(join(ROOT, "packages", name, "package.json"), "utf8").includes('"publishConfig"'),
);
const PNPM = "pnpm@10.34.9";
const EXAMPLE = join(ROOT, "examples/own-recorder");

/** What it says on stdout; rejects with everything that it said when it fails. */
const run = (command: string, args: readonly string[], cwd: string): Promise<string> =>
  new Promise((resolve, reject) => {
    execFile(command, [...args], { cwd, maxBuffer: 64 * 1024 * 1024 }, (error, stdout, stderr) => {
      if (error === null) resolve(stdout);
      else reject(new Error(`${command} ${args.join(" ")}: ${stdout}${stderr}`));
    });
  });

/** Paths of the tarballs, by the package's short name. */
export async function pack(into: string): Promise<ReadonlyMap<string, string>> {
  const filters = PUBLISHED.flatMap((name) => ["--filter", `@sluice/${name}`]);
  await run("npx", ["--yes", PNPM, ...filters, "pack", "--pack-destination", into], ROOT);
  const files = await readdir(into);
  return new Map(
    PUBLISHED.map((name) => {
      const file = files.find((each) => each.startsWith(`sluice-${name}-`));
      if (file === undefined) throw new Error(`no tarball of ${name} in ${files.join(", ")}`);
      return [name, join(into, file)];
    }),
  );
}

export const contentsOf = async (tarball: string): Promise<readonly string[]> =>
  (await run("tar", ["tzf", tarball], ROOT)).trim().split("\n");
export const fileOf = (tarball: string, name: string): Promise<string> =>
  run("tar", ["xzOf", tarball, `package/${name}`], ROOT);

export interface FreshProject {
  readonly folder: string;
  remove(): Promise<void>;
}

/** The example, with the packages from their tarballs and everything else from the registry. */
export async function freshProject(tarballs: ReadonlyMap<string, string>): Promise<FreshProject> {
  const folder = await mkdtemp(join(tmpdir(), "sluice-fresh-"));
  await cp(EXAMPLE, folder, { recursive: true });
  const manifest = JSON.parse(await readFile(join(folder, "package.json"), "utf8")) as Record<string, unknown>;
  const ours = Object.fromEntries([...tarballs].map(([name, file]) => [`@sluice/${name}`, `file:${file}`]));
  const dependencies = { ...ours, "@types/node": "^20" };
  await writeFile(join(folder, "package.json"), JSON.stringify({ ...manifest, dependencies }));
  await run("npm", ["install", "--no-audit", "--no-fund", "--prefer-offline", "--ignore-scripts"], folder);
  return { folder, remove: () => rm(folder, { recursive: true, force: true }) };
}

/** Rejects with what the compiler says. */
export const checkTypes = (folder: string): Promise<string> =>
  run(process.execPath, [join(ROOT, "node_modules/typescript-native/bin/tsc"), "-p", folder], folder);
