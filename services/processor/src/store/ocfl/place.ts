/** A version is put together aside and becomes visible by one rename. */
import { mkdir, rename } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { StoreContext } from "../object-store.ts";
import { copyHashed, flushFolder, makeFolders, makeFoldersBelow, writeNew } from "./durable.ts";
import { INVENTORY_NAME, type PrintedInventory, SIDECAR_NAME, versionName } from "./inventory.ts";
import { OBJECT_DECLARATION } from "./object.ts";
import type { VersionPlan } from "./plan.ts";

export interface StagedVersion {
  readonly ok: true;
  /** An object root that holds this version alone: the whole object if it is the first. */
  readonly objectRoot: string;
  readonly version: string;
  readonly printed: PrintedInventory;
}

/** `staging` is an empty folder that only we know. */
export async function stageVersion(
  staging: string,
  plan: VersionPlan,
  printed: PrintedInventory,
  ctx: StoreContext,
): Promise<StagedVersion | { readonly ok: false; readonly why: string }> {
  const objectRoot = join(staging, "object");
  const version = versionName(plan.number);
  const folder = join(objectRoot, version);
  await mkdir(objectRoot);
  await mkdir(folder);
  const why = await stageContent(folder, plan, ctx);
  if (why !== null) return { ok: false, why };
  await writeInventory(folder, printed);
  await flushFolder(folder);
  return { ok: true, objectRoot, version, printed };
}

/** Null, or what was wrong with the bytes that we were given. */
async function stageContent(folder: string, plan: VersionPlan, ctx: StoreContext): Promise<string | null> {
  const content = plan.copies.map(({ path, file }) => ({ path: `content/${path}`, file }));
  const folders = await makeFoldersBelow(
    folder,
    content.map(({ path }) => path),
  );
  for (const { path, file } of content) {
    const digest = await copyHashed(file.source, join(folder, path), ctx.signal);
    if (digest !== file.sha512) return `${file.logicalPath} changed while it was being stored`;
    await ctx.checkpoint("storeFile");
  }
  for (const made of folders) await flushFolder(made);
  return null;
}

async function writeInventory(folder: string, printed: PrintedInventory): Promise<void> {
  await writeNew(join(folder, INVENTORY_NAME), printed.bytes);
  await writeNew(join(folder, SIDECAR_NAME), printed.sidecar);
}

/** False: somebody was first, and nothing was changed. */
export async function placeObject(staged: StagedVersion, path: string): Promise<boolean> {
  await writeNew(join(staged.objectRoot, OBJECT_DECLARATION), Buffer.from(`${OBJECT_DECLARATION.slice(2)}\n`));
  await writeInventory(staged.objectRoot, staged.printed);
  await flushFolder(staged.objectRoot);
  await makeFolders(dirname(path));
  return moveFolder(staged.objectRoot, path);
}

export const placeVersion = (staged: StagedVersion, path: string): Promise<boolean> =>
  moveFolder(join(staged.objectRoot, staged.version), join(path, staged.version));

/** Renaming a folder onto one that has content is refused by the file system: that is our compare-and-set. */
async function moveFolder(from: string, to: string): Promise<boolean> {
  try {
    await rename(from, to);
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code === "ENOTEMPTY" || code === "EEXIST") return false;
    throw error;
  }
  await flushFolder(dirname(to));
  return true;
}
