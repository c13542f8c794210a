/** A version is put together aside and becomes visible by one rename. */
import { mkdir, rename } from "node:fs/promises";
import { dirname, join } from "node:path";
import { eachAtMost } from "@sluice/working-folder";
import type { StoreContext } from "../object-store.ts";
import { copyHashed, flushFolder, makeFolders, makeFoldersBelow, writeNew } from "./durable.ts";
import { INVENTORY_NAME, type PrintedInventory, SIDECAR_NAME, versionName } from "./inventory.ts";
import { OBJECT_DECLARATION } from "./object.ts";
import type { VersionPlan } from "./plan.ts";

/** Files written at once: flushing is what takes time, and a file system flushes several for the price of one. */
const AT_ONCE = 8;

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
  let wrong: string | null = null;
  await eachAtMost(content, AT_ONCE, async ({ path, file }) => {
    const digest = await copyHashed(file.source, join(folder, path), ctx.signal);
    if (digest !== file.sha512) wrong = `${file.logicalPath} changed while it was being stored`;
    await ctx.checkpoint("storeFile");
    return wrong === null ? "go-on" : "stop";
  });
  await eachAtMost(folders, AT_ONCE, (made) => flushFolder(made).then(() => "go-on"));
  return wrong;
}

async function writeInventory(folder: string, printed: PrintedInventory): Promise<void> {
  await Promise.all([
    writeNew(join(folder, INVENTORY_NAME), printed.bytes),
    writeNew(join(folder, SIDECAR_NAME), printed.sidecar),
  ]);
}

/** False: somebody was first, and nothing was changed. */
export async function placeObject(staged: StagedVersion, path: string): Promise<boolean> {
  await Promise.all([
    writeNew(join(staged.objectRoot, OBJECT_DECLARATION), Buffer.from(`${OBJECT_DECLARATION.slice(2)}\n`)),
    writeInventory(staged.objectRoot, staged.printed),
  ]);
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
