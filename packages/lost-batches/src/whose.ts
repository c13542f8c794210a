/** Files and rows of another fleet would be taken for losses of this one. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Inventory } from "@sluice/inventory";

/** Null: they are this fleet's, or nobody has said whose. */
export async function foreignPart(
  fleet: string,
  { workingDir, inventory }: { readonly workingDir: string; readonly inventory: Pick<Inventory, "stamp"> | null },
): Promise<string | null> {
  const folder = await fleetOfFolder(workingDir);
  if (folder !== null && folder !== fleet)
    return `the working folder ${workingDir} is of fleet ${folder}, the tree of ${fleet}`;
  const read = await inventory?.stamp.read();
  if (read?.kind === "away") return `the inventory: ${read.why}`;
  const rows = read?.stamp?.fleet ?? fleet;
  return rows === fleet ? null : `the inventory is of fleet ${rows}, the tree of ${fleet}`;
}

async function fleetOfFolder(folder: string): Promise<string | null> {
  try {
    const stamp: unknown = JSON.parse(await readFile(join(folder, "fleet.json"), "utf8"));
    return typeof stamp === "object" && stamp !== null && "fleet" in stamp ? String(stamp.fleet) : null;
  } catch {
    return null;
  }
}
