import type { Inventory } from "./inventory.ts";
import type { InventoryUrl } from "./inventory-url.ts";
import { openMySqlInventory } from "./mysql.ts";
import type { InventoryOptions } from "./sql-inventory.ts";
import { openSqliteInventory } from "./sqlite.ts";

/** The part is chosen by its URL. Throws if the database is a wrong one; one that is only away answers later. */
export const openInventory = (url: InventoryUrl, options: InventoryOptions = {}): Promise<Inventory> =>
  url.kind === "sqlite" ? openSqliteInventory(url.file, options) : openMySqlInventory(url, options);
