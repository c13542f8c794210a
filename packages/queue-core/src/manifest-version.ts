import type { Inventory } from "./records.ts";

/**
 * The version that was stored; null: nobody knows. Jobs that an earlier version of ours or Merritt's ingest stored do not
 * say it: then the URL of the manifest does, if the store has one for each version (…/v3/inventory.json).
 */
export function storedVersion({ version, manifest_url: url }: Inventory): number | null {
  const digits = /\/v0*(\d{1,9})\/[^/]*$/.exec(url)?.[1];
  return version ?? (digits === undefined ? null : Number(digits));
}
