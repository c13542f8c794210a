/** Whose an OCFL object is: its newest version's mrt-owner.txt and mrt-membership.txt say it. */
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { type Belonging, parseMembership, parseOwner } from "@sluice/ingest-formats";
import { headVersion, type Inventory } from "./inventory.ts";
import { logicalPaths } from "./plan.ts";

/** Null: the version does not say it, or what it says is damaged. Nobody's object is nobody's to change. */
export async function belongingOf(path: string, inventory: Inventory): Promise<Belonging | null> {
  const owner = await readLogical(path, inventory, "system/mrt-owner.txt");
  const membership = await readLogical(path, inventory, "system/mrt-membership.txt");
  if (owner === null || membership === null) return null;
  return { owner: parseOwner(owner), collections: parseMembership(membership) };
}

async function readLogical(path: string, inventory: Inventory, logicalPath: string): Promise<string | null> {
  const state = logicalPaths(headVersion(inventory)?.state ?? {});
  const digest = state.find(([name]) => name === logicalPath)?.[1];
  const contentPath = digest === undefined ? undefined : inventory.manifest[digest]?.[0];
  if (contentPath === undefined) return null;
  const bytes = await readFile(join(path, contentPath));
  return createHash("sha512").update(bytes).digest("hex") === digest?.toLowerCase() ? bytes.toString("utf8") : null;
}
