/** What images are built on: the pinned public base, or a stand-in made here. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { runCommand } from "@sluice/local-parts";
import type { Docker } from "../docker.ts";

export type BaseChoice = "public" | "local";

export const LOCAL_BASE = "sluice-local/node";

/** The Dockerfile says it once. */
export async function defaultBuildBase(root: string): Promise<string> {
  const base = /^ARG BUILD_BASE=(\S+)$/m.exec(await readFile(join(root, "deploy/Dockerfile"), "utf8"))?.[1];
  if (base === undefined) throw new Error("deploy/Dockerfile names no BUILD_BASE");
  return base;
}

/** Makes sure that it is there. */
export async function provideBase(docker: Docker, root: string, choice: BaseChoice): Promise<string> {
  if (choice === "local") {
    await makeLocalBases(docker, root);
    return LOCAL_BASE;
  }
  const base = process.env["BUILD_BASE"] ?? (await defaultBuildBase(root));
  if ((await docker.can("image", "inspect", base)) || (await docker.can("pull", "--quiet", base))) return base;
  throw new Error(`${base} cannot be pulled: name another in BUILD_BASE, or have a stand-in made: --local-bases`);
}

/** Whether the public base can be had at all. */
export const isPublicBaseThere = async (docker: Docker, root: string): Promise<boolean> => {
  const base = process.env["BUILD_BASE"] ?? (await defaultBuildBase(root));
  return (await docker.can("image", "inspect", base)) || (await docker.can("pull", "--quiet", base));
};

async function makeLocalBases(docker: Docker, root: string): Promise<void> {
  const { ok, output } = await runCommand(join(root, "deploy/base-images/make.sh"), [], { env: docker.env });
  if (!ok) throw new Error(`the local base images could not be made:\n${output}`);
}
