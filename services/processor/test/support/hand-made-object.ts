/** An OCFL object of two versions, written out by hand: neither the store nor the validator has a part in it. */
import { createHash } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

const sha512 = (text: string): string => createHash("sha512").update(text).digest("hex");

export interface HandMade {
  id: string;
  type: string;
  digestAlgorithm: string;
  head: string;
  manifest: Record<string, string[]>;
  versions: Record<string, { created: string; state: Record<string, string[]>; message?: unknown; user?: unknown }>;
  fixity?: Record<string, Record<string, string[]>>;
}

const user = { name: "Ann", address: "mailto:ann@example.org" };

export const inventoryV1 = (): HandMade => ({
  id: "ark:/99999/hand",
  type: "https://ocfl.io/1.1/spec/#inventory",
  digestAlgorithm: "sha512",
  head: "v1",
  manifest: { [sha512("one")]: ["v1/content/a/one.txt"] },
  versions: {
    v1: { created: "2026-01-02T03:04:05Z", state: { [sha512("one")]: ["a/one.txt"] }, message: "first", user },
  },
});

export const inventoryV2 = (): HandMade => ({
  ...inventoryV1(),
  head: "v2",
  manifest: { ...inventoryV1().manifest, [sha512("two")]: ["v2/content/two.txt"] },
  versions: {
    ...inventoryV1().versions,
    v2: {
      created: "2026-01-03T03:04:05+01:00",
      state: { [sha512("one")]: ["a/one.txt", "a/copy.txt"], [sha512("two")]: ["two.txt"] },
      message: "second",
      user,
    },
  },
  fixity: { sha256: { [createHash("sha256").update("two").digest("hex")]: ["v2/content/two.txt"] } },
});

export function write(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

export function writeInventory(folder: string, inventory: unknown): void {
  const text = JSON.stringify(inventory);
  write(join(folder, "inventory.json"), text);
  write(join(folder, "inventory.json.sha512"), `${sha512(text)}\tinventory.json`);
}

export function writeHandMadeObject(root: string): void {
  write(join(root, "0=ocfl_object_1.1"), "ocfl_object_1.1\n");
  write(join(root, "v1/content/a/one.txt"), "one");
  write(join(root, "v2/content/two.txt"), "two");
  writeInventory(join(root, "v1"), inventoryV1());
  writeInventory(join(root, "v2"), inventoryV2());
  writeInventory(root, inventoryV2());
}
