import type { StorageUrl } from "@sluice/ingest-formats";
import type { Egress } from "@sluice/safe-io";
import { merrittStore } from "./merritt/merritt-store.ts";
import type { ObjectStore } from "./object-store.ts";
import { openOcflStore } from "./ocfl/ocfl-store.ts";

export interface StoreOptions {
  readonly nowMs: number;
  readonly egress: Egress;
  readonly urlOf: (path: string) => string;
}

export async function openStore(url: StorageUrl, { nowMs, egress, urlOf }: StoreOptions): Promise<ObjectStore> {
  return url.kind === "ocfl" ? openOcflStore(url.folder, nowMs) : merrittStore({ base: url.base, egress, urlOf });
}
