/** An OCFL 1.1 storage root: opened, or made where there is nothing. */
import { randomUUID } from "node:crypto";
import { mkdir, readdir, readFile, rename, rm, stat } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { makeFolders, putInPlace, writeNew } from "./durable.ts";
import { LAYOUT } from "./layout.ts";

const DECLARATION = "0=ocfl_1.1";
/** A local extension: versions are put together here, on the file system where they will stay. */
const STAGING = "extensions/sluice-staging";
const CONFIG = "config.json";
const TRASH = "trash-";
const ABANDONED_AFTER_MS = 7 * 24 * 3_600_000;

const json = (value: unknown): Buffer => Buffer.from(`${JSON.stringify(value, null, 2)}\n`);

const LAYOUT_JSON = json({
  extension: LAYOUT.extensionName,
  description: "Objects lie under the SHA-256 of their id, three folders of three characters deep.",
});
const STAGING_JSON = json({
  extensionName: "sluice-staging",
  description: "Versions being put together. What is left here by a crash is removed when its object is next written.",
});

export interface StorageRoot {
  readonly path: string;
  readonly staging: string;
}

/** Throws where the folder is something else: better no store than a store in the wrong place. */
export async function openStorageRoot(folder: string, nowMs: number): Promise<StorageRoot> {
  const path = resolve(folder);
  await makeFolders(path);
  const names = await readdir(path);
  if (!names.includes(DECLARATION)) await initialise(path, names);
  await checkLayout(path);
  const staging = join(path, STAGING);
  await makeFolders(staging);
  await emptyTrash(staging, nowMs);
  return { path, staging };
}

/** Several processes may do this at once: each file is written aside and put in place whole; the declaration comes last. */
async function initialise(path: string, names: readonly string[]): Promise<void> {
  const foreign = names.filter((name) => !["extensions", "ocfl_layout.json"].includes(name));
  if (foreign.length > 0) throw new Error(`${path} is no OCFL 1.1 storage root and not empty (${foreign.join(", ")})`);
  const layoutFolder = join(path, "extensions", LAYOUT.extensionName);
  await makeFolders(layoutFolder);
  await makeFolders(join(path, STAGING));
  await place(path, join(layoutFolder, CONFIG), json(LAYOUT));
  await place(path, join(path, STAGING, CONFIG), STAGING_JSON);
  await place(path, join(path, "ocfl_layout.json"), LAYOUT_JSON);
  await place(path, join(path, DECLARATION), Buffer.from("ocfl_1.1\n"));
}

async function place(root: string, target: string, bytes: Buffer): Promise<void> {
  const aside = join(root, STAGING, `file-${randomUUID()}`);
  await writeNew(aside, bytes);
  await putInPlace(aside, target);
}

async function checkLayout(path: string): Promise<void> {
  const layout = JSON.parse(await readFile(join(path, "ocfl_layout.json"), "utf8")) as { extension?: unknown };
  if (layout.extension !== LAYOUT.extensionName) {
    throw new Error(`${path} has the layout ${String(layout.extension)}, we write ${LAYOUT.extensionName}`);
  }
}

/**
 * An empty place to put a version together, nobody else's. What others left for the same object is removed first: who
 * asks holds the object's lock.
 */
export async function claimStaging(root: StorageRoot, objectDigest: string): Promise<string> {
  const left = (await readdir(root.staging)).filter((name) => name.startsWith(objectDigest));
  for (const name of left) await dropStaging(join(root.staging, name));
  const own = join(root.staging, `${objectDigest}.${randomUUID()}`);
  await mkdir(own);
  return own;
}

/** Moved out of its owner's reach before it is removed: a zombie must find its work gone, not half there. */
export async function dropStaging(folder: string): Promise<void> {
  const trash = join(dirname(folder), `${TRASH}${randomUUID()}`);
  try {
    await rename(folder, trash);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return;
    throw error;
  }
  await rm(trash, { recursive: true, force: true });
}

/** What is left of removals that were cut off, and of jobs that never came back. */
async function emptyTrash(staging: string, nowMs: number): Promise<void> {
  for (const name of await readdir(staging)) {
    const path = join(staging, name);
    if (name.startsWith(TRASH)) await rm(path, { recursive: true, force: true });
    else if (name !== CONFIG && (await changedMs(path)) < nowMs - ABANDONED_AFTER_MS) await dropStaging(path);
  }
}

async function changedMs(path: string): Promise<number> {
  try {
    return (await stat(path)).mtimeMs;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return Number.POSITIVE_INFINITY;
    throw error;
  }
}
