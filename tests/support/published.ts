/** The published packages as a stranger gets them: published as for a release, installed into a fresh folder. */
import { execFile } from "node:child_process";
import { cp, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { NpmRegistry } from "./npm-registry.ts";

export const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const PNPM = "pnpm@10.34.9";
const EXAMPLE = join(ROOT, "examples/own-recorder");

/** What it says on stdout; rejects with everything that it said when it fails. */
const run = (command: string, args: readonly string[], cwd: string, env: NodeJS.ProcessEnv = {}): Promise<string> =>
  new Promise((resolve, reject) => {
    const options = { cwd, maxBuffer: 64 * 1024 * 1024, env: { ...process.env, ...env } };
    execFile(command, [...args], options, (error, stdout, stderr) => {
      if (error === null) resolve(stdout);
      else reject(new Error(`${command} ${args.join(" ")}: ${stdout}${stderr}`));
    });
  });

/** As CONTRIBUTING tells for a release, but for the registry and for changes that are not committed yet. */
export async function publishAll(registry: NpmRegistry): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "sluice-npmrc-"));
  const userconfig = join(folder, "npmrc");
  await writeFile(userconfig, `${registry.npmrc}update-notifier=false\n`);
  try {
    await run("npx", ["--yes", PNPM, "-r", "publish", "--access", "public", "--no-git-checks", "--silent"], ROOT, {
      NPM_CONFIG_USERCONFIG: userconfig,
    });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

export interface Tarball {
  readonly files: readonly string[];
  readonly manifest: {
    readonly name: string;
    readonly exports: unknown;
    readonly dependencies: Readonly<Record<string, string>>;
  };
}

export async function openTarball(data: Buffer): Promise<Tarball> {
  const folder = await mkdtemp(join(tmpdir(), "sluice-tarball-"));
  const file = join(folder, "package.tgz");
  try {
    await writeFile(file, data);
    const [files, manifest] = await Promise.all([
      run("tar", ["tzf", file], folder),
      run("tar", ["xzOf", file, "package/package.json"], folder),
    ]);
    return { files: files.trim().split("\n"), manifest: JSON.parse(manifest) as Tarball["manifest"] };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

export interface FreshProject {
  readonly folder: string;
  remove(): Promise<void>;
}

/** The example, with `more` of our packages beside what it asks for itself; ours from that registry. */
export async function freshProject(registry: NpmRegistry, more: readonly string[]): Promise<FreshProject> {
  const folder = await mkdtemp(join(tmpdir(), "sluice-fresh-"));
  await cp(EXAMPLE, folder, { recursive: true });
  await writeFile(join(folder, ".npmrc"), registry.npmrc);
  await run("npm", ["install", ...INSTALL_FLAGS, ...more], folder);
  return { folder, remove: () => rm(folder, { recursive: true, force: true }) };
}

const INSTALL_FLAGS = ["--no-audit", "--no-fund", "--prefer-offline", "--ignore-scripts", "--no-save"];

/** What the example's README says for whoever has no registry with our packages: tarballs of a checkout. */
export async function packedByReadme(): Promise<readonly string[]> {
  const readme = await readFile(join(EXAMPLE, "README.md"), "utf8");
  const [, command = ""] = /^(npx [^\n]+ pack --pack-destination) \S+$/m.exec(readme) ?? [];
  const folder = await mkdtemp(join(tmpdir(), "sluice-packs-"));
  try {
    const [program = "", ...args] = command.replaceAll('"', "").split(" ");
    await run(program, [...args, folder], ROOT);
    return (await readdir(folder)).sort();
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Rejects with what the compiler says. */
export const checkTypes = (folder: string): Promise<string> =>
  run(process.execPath, [join(ROOT, "node_modules/typescript-native/bin/tsc"), "-p", folder], folder);

/** How a program of an installed package ends, and what it says. */
export const runInstalled = async (
  folder: string,
  name: string,
  env: NodeJS.ProcessEnv,
): Promise<{ readonly code: number | null; readonly output: string }> =>
  new Promise((resolve) => {
    const program = join(folder, "node_modules/.bin", name);
    const child = execFile(program, { cwd: folder, env: { ...process.env, ...env } }, (_error, stdout, stderr) =>
      resolve({ code: child.exitCode, output: stdout + stderr }),
    );
  });
