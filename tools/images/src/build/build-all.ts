import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { runCommand } from "@sluice/local-parts";
import { z } from "zod";
import type { Docker } from "../docker.ts";
import { type BaseChoice, provideBase } from "./bases.ts";
import { buildImage, type Built } from "./build-image.ts";
import { allImages } from "./catalogue.ts";

export interface BuildOptions {
  readonly root: string;
  readonly bases: BaseChoice;
  /** Names; empty = all. */
  readonly only: readonly string[];
  readonly say: (line: string) => void;
}

/** Below this every image stays: a larger one has swallowed something that it should not. */
export const SIZE_LIMIT_BYTES = 250_000_000;

const Version = z.object({ version: z.string() });

export async function versionOf(root: string): Promise<string> {
  return Version.parse(JSON.parse(await readFile(join(root, "package.json"), "utf8"))).version;
}

export async function buildAll(docker: Docker, { root, bases, only, say }: BuildOptions): Promise<readonly Built[]> {
  const images = (await allImages(root)).filter(({ name }) => only.length === 0 || only.includes(name));
  const begun = performance.now();
  const base = await provideBase(docker, root, bases);
  say(`built on ${base} (there after ${((performance.now() - begun) / 1000).toFixed(0)} s)`);
  const plan = {
    root,
    base,
    prefix: process.env["SLUICE_IMAGES"] ?? "sluice",
    version: process.env["SLUICE_TAG"] ?? (await versionOf(root)),
    commit: await commitOf(root),
    sbomDir: join(root, "data", "sbom"),
  };
  const built: Built[] = [];
  // One after another: the first one builds the workspace, the others find it in the cache.
  for (const image of images) {
    const one = await buildImage(docker, plan, image);
    say(rowOf(one));
    built.push(one);
  }
  const large = built.filter(({ bytes }) => bytes > SIZE_LIMIT_BYTES);
  if (large.length > 0) throw new Error(`above ${SIZE_LIMIT_BYTES} bytes: ${large.map(({ tag }) => tag).join(", ")}`);
  return built;
}

export const rowOf = ({ tag, bytes, seconds }: Built): string =>
  `${tag.padEnd(32)} ${(bytes / 1e6).toFixed(1).padStart(6)} MB  ${seconds.toFixed(0).padStart(4)} s`;

async function commitOf(root: string): Promise<string> {
  const { ok, output } = await runCommand("git", ["-C", root, "rev-parse", "HEAD"]);
  return ok ? output : "unknown";
}
