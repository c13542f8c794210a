/** The inventory by its URL, for who only asks it. */
import { access } from "node:fs/promises";
import { resolve } from "node:path";
import type { Inventory } from "@sluice/inventory";

export type LostInventory = Pick<Inventory, "findArchivedBatch" | "recordedOf" | "recordedSince" | "stamp" | "close">;

export type OpenedInventory =
  { readonly ok: true; readonly inventory: LostInventory } | { readonly ok: false; readonly problem: string };

/** Its database is loaded only here: few commands need one. */
export async function openLostInventory(text: string, cwd: string): Promise<OpenedInventory> {
  const { INVENTORY_URL_FORMS, openInventory, parseInventoryUrl } = await import("@sluice/inventory");
  const url = parseInventoryUrl(text);
  if (url === null) return { ok: false, problem: `the inventory's URL is not ${INVENTORY_URL_FORMS}` };
  if (url.kind !== "sqlite") return { ok: true, inventory: await openInventory(url) };
  const file = resolve(cwd, url.file);
  // A database that is not there would be made, and know of nothing.
  if (!(await isThere(file))) return { ok: false, problem: `there is no inventory ${file}` };
  return { ok: true, inventory: await openInventory({ ...url, file }) };
}

const isThere = (file: string): Promise<boolean> =>
  access(file).then(
    () => true,
    () => false,
  );
