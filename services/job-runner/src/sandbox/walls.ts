/** Which walls this system has, found out by building one of each kind and looking whether it stands. */
import { execFile } from "node:child_process";
import { chmod, mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { type Box, type Tools, commandOf } from "./box.ts";
import { findProgram } from "./find-program.ts";
import { librariesOf } from "./libraries.ts";

export const WALLS = ["user", "namespaces", "permissions"] as const;
export type Wall = (typeof WALLS)[number];

export interface Standing {
  readonly box: Box;
  readonly walls: Readonly<Record<Wall, boolean>>;
  /** Why the strongest kind is not to be had; null if it is. */
  readonly missing: string | null;
}

const run = promisify(execFile);
const PROBE_MS = 20_000;
const inSandbox = (name: string): string => fileURLToPath(new URL(`../../sandbox/${name}`, import.meta.url));

export async function findWalls(options: { readonly uid: number; readonly namespaces: boolean }): Promise<Standing> {
  const root = await mkdtemp(join(tmpdir(), "sluice-box-"));
  // Mounted over, in a view of its own, by each box: nothing is ever written here.
  await chmod(root, 0o755);
  const setpriv = await findProgram("setpriv");
  const permissionFlag = await firstFlag(["--permission", "--experimental-permission"]);
  const base = {
    root,
    harness: inSandbox("harness.cjs"),
    programs: inSandbox("programs.cjs"),
    frames: inSandbox("frames.cjs"),
    node: process.execPath,
    permissionFlag,
    uid: null,
    setpriv,
    tools: null,
  } as const;
  const tools = options.namespaces ? await findTools() : "namespaces are turned off";
  const uid = process.getuid?.() === 0 && setpriv !== null ? options.uid : null;
  const walled: Box | null = typeof tools === "string" ? null : { ...base, uid, tools };
  const problem = typeof tools === "string" ? tools : await problemOf({ ...base, uid, tools });
  const box = walled !== null && problem === null ? walled : { ...base, uid };
  const walls = { user: box.uid !== null, namespaces: problem === null, permissions: permissionFlag !== null };
  return { box, walls, missing: problem };
}

/** It stands when a program inside can run at all, and sees nothing of ours. */
async function problemOf(box: Box): Promise<string | null> {
  const look = "process.stdout.write(JSON.stringify([require('fs').readdirSync('/'), process.pid, process.env]))";
  const { command, args, env } = commandOf(
    { ...box, permissionFlag: null },
    { memoryMb: 64, files: [], run: ["-e", look] },
  );
  try {
    const { stdout } = await run(command, [...args], { env, timeout: PROBE_MS, cwd: "/" });
    const [seen, pid, environment] = JSON.parse(stdout) as [string[], number, object];
    const isBare =
      !seen.includes("etc") && !seen.includes("home") && pid === 1 && Object.keys(environment).length === 0;
    return isBare ? null : "a box could be built, but it is not tight";
  } catch (error) {
    const { stderr = "", message = "" } = error as { readonly stderr?: string; readonly message?: string };
    return `no box could be built: ${(stderr === "" ? message : stderr).trim().slice(0, 300)}`;
  }
}

async function findTools(): Promise<Tools | string> {
  const names = ["sh", "unshare", "setpriv", "chroot", "env"] as const;
  const paths = new Map<string, string>();
  for (const name of names) {
    const path = await findProgram(name);
    if (path === null) return `there is no ${name}`;
    paths.set(name, path);
  }
  const at = (name: (typeof names)[number]): string => paths.get(name) ?? "";
  const libraries = await librariesOf([process.execPath, at("setpriv")]);
  if (libraries.length === 0) return "there is no ldd, or it tells nothing";
  const { sh, unshare, setpriv, chroot, env } = {
    sh: at("sh"),
    unshare: at("unshare"),
    setpriv: at("setpriv"),
    chroot: at("chroot"),
    env: at("env"),
  };
  return { sh, unshare, setpriv, chroot, env, script: inSandbox("box.sh"), libraries };
}

async function firstFlag(flags: readonly string[]): Promise<string | null> {
  for (const flag of flags) {
    const works = await run(process.execPath, [flag, "--allow-fs-read=*", "-e", ""], {
      env: {},
      timeout: PROBE_MS,
    }).then(
      () => true,
      () => false,
    );
    if (works) return flag;
  }
  return null;
}
