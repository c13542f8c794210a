/** An OCFL object as it is found: absent, whole, or mended on the way. */
import { randomUUID } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { putInPlace, writeNew } from "./durable.ts";
import { INVENTORY_NAME, type PrintedInventory, readInventory, SIDECAR_NAME, versionName } from "./inventory.ts";

export const OBJECT_DECLARATION = "0=ocfl_object_1.1";

export type FoundObject =
  | { readonly kind: "absent" }
  | { readonly kind: "whole"; readonly printed: PrintedInventory }
  | { readonly kind: "behind"; readonly printed: PrintedInventory }
  | { readonly kind: "damaged"; readonly why: string };

export type MendedObject = Exclude<FoundObject, { kind: "behind" }>;

/**
 * A version folder comes into being whole, by one rename. So the highest one is the truth, and a root inventory that
 * says less (`behind`) was left by a writer that died before its last step.
 */
export async function lookAtObject(path: string, id: string): Promise<FoundObject> {
  const names = await readNames(path);
  if (names === null) return { kind: "absent" };
  if (!names.includes(OBJECT_DECLARATION)) return { kind: "damaged", why: `${path} has no ${OBJECT_DECLARATION}` };
  const highest = versionName(names.reduce((most, name) => Math.max(most, versionIn(name)), 0));
  const root = await readInventoryOf(path);
  if (root?.inventory.head === highest) return ofId(id, { kind: "whole", printed: root });
  const version = await readInventoryOf(join(path, highest));
  if (version?.inventory.head === highest) return ofId(id, { kind: "behind", printed: version });
  return { kind: "damaged", why: `${path} has no inventory that matches its newest version ${highest}` };
}

function ofId(id: string, found: FoundObject & { printed: PrintedInventory }): FoundObject {
  const is = found.printed.inventory.id;
  return is === id ? found : { kind: "damaged", why: `the place of ${id} is taken by another object` };
}

const versionIn = (name: string): number => Number(/^v([1-9]\d*)$/.exec(name)?.[1] ?? 0);

/**
 * Makes the root inventory that of the newest version, and looks again: a writer that slept while others went on puts
 * its old one there, sees it, and mends it. `staging` must be on the same file system.
 */
export async function mendObject(path: string, id: string, staging: string): Promise<MendedObject> {
  for (;;) {
    const found = await lookAtObject(path, id);
    if (found.kind !== "behind") return found;
    await replaceRootInventory(path, found.printed, staging);
  }
}

/** Root inventory and sidecar are two files: between them the object is `behind`, and whoever comes next mends it. */
async function replaceRootInventory(path: string, printed: PrintedInventory, staging: string): Promise<void> {
  const aside = join(staging, `root-${randomUUID()}`);
  await writeNew(`${aside}.inventory`, printed.bytes);
  await writeNew(`${aside}.sidecar`, printed.sidecar);
  await putInPlace(`${aside}.inventory`, join(path, INVENTORY_NAME));
  await putInPlace(`${aside}.sidecar`, join(path, SIDECAR_NAME));
}

async function readInventoryOf(folder: string): Promise<PrintedInventory | null> {
  try {
    return readInventory(await readFile(join(folder, INVENTORY_NAME)), await readFile(join(folder, SIDECAR_NAME)));
  } catch (error) {
    if (isMissing(error)) return null;
    throw error;
  }
}

async function readNames(path: string): Promise<string[] | null> {
  try {
    return await readdir(path);
  } catch (error) {
    if (isMissing(error)) return null;
    throw error;
  }
}

const isMissing = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === "ENOENT";
