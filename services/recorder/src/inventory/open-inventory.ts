import type { Inventory } from "./inventory.ts";
import { openSqliteInventory } from "./sqlite.ts";

/** MySQL and MariaDB will be another kind: a dialect, its migrations and its sorter of errors. */
export interface InventoryUrl {
  readonly kind: "sqlite";
  readonly file: string;
}

/** Null: not a database that we know. */
export function parseInventoryUrl(url: string): InventoryUrl | null {
  const file = /^sqlite:(?:\/\/(?=\/))?(.+)$/.exec(url)?.[1];
  return file === undefined ? null : { kind: "sqlite", file };
}

export const openInventory = (url: InventoryUrl): Promise<Inventory> => openSqliteInventory(url.file);
