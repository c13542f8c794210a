/** OCFL 1.1 inventories: schema, printer and digest. */
import { createHash } from "node:crypto";
import { z } from "zod";

export const INVENTORY_TYPE = "https://ocfl.io/1.1/spec/#inventory";
export const INVENTORY_NAME = "inventory.json";
export const SIDECAR_NAME = "inventory.json.sha512";

const pathsByDigest = z.record(z.string(), z.array(z.string()));

const VersionSchema = z.object({
  created: z.string(),
  state: pathsByDigest,
  message: z.string().optional(),
  user: z.object({ name: z.string(), address: z.string().optional() }).optional(),
});
export type Version = z.infer<typeof VersionSchema>;

const InventorySchema = z.object({
  id: z.string(),
  type: z.literal(INVENTORY_TYPE),
  digestAlgorithm: z.literal("sha512"),
  head: z.string().regex(/^v[1-9]\d*$/),
  // Objects that we did not write may name another content directory: we do not add to those.
  contentDirectory: z.literal("content").optional(),
  manifest: pathsByDigest,
  versions: z.record(z.string(), VersionSchema),
  fixity: z.record(z.string(), pathsByDigest).optional(),
});
export type Inventory = z.infer<typeof InventorySchema>;
export type PathsByDigest = Inventory["manifest"];

/** An inventory as it is on disk, or is going to be. */
export interface PrintedInventory {
  readonly inventory: Inventory;
  readonly bytes: Buffer;
  readonly sidecar: Buffer;
}

export const versionName = (number: number): string => `v${number}`;
export const versionNumber = (name: string): number => Number(name.slice(1));
export const headNumber = (inventory: Inventory): number => versionNumber(inventory.head);
export const headVersion = (inventory: Inventory): Version | undefined => inventory.versions[inventory.head];

export function printInventory(inventory: Inventory): PrintedInventory {
  const bytes = Buffer.from(`${JSON.stringify(inventory, null, 2)}\n`);
  return { inventory, bytes, sidecar: Buffer.from(`${sha512(bytes)} ${INVENTORY_NAME}\n`) };
}

/** Null: not an inventory that we can add to, or not the one its sidecar speaks of. */
export function readInventory(bytes: Buffer, sidecar: Buffer): PrintedInventory | null {
  if (/^([0-9a-fA-F]{128})[ \t]+inventory\.json\s*$/.exec(sidecar.toString("utf8"))?.[1] !== sha512(bytes)) return null;
  const parsed = InventorySchema.safeParse(parseJson(bytes));
  return parsed.success ? { inventory: parsed.data, bytes, sidecar } : null;
}

const sha512 = (bytes: Buffer): string => createHash("sha512").update(bytes).digest("hex");

function parseJson(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString("utf8")) as unknown;
  } catch {
    return undefined;
  }
}
