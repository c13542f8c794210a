/** What the processor is made of; `main.ts` joins the real ones. */
import type { Inventory } from "@sluice/inventory";
import type { Profile } from "@sluice/ingest-formats";
import type { WorkingFolder } from "@sluice/working-folder";
import type { Minter } from "./minter/minter.ts";
import type { ObjectStore } from "./store/object-store.ts";

export interface ProcessorParts {
  readonly folder: WorkingFolder;
  readonly profiles: ProfileSource;
  readonly store: ObjectStore;
  /** The address of a working file, for the storage manifest. */
  readonly urlOf: (path: string) => string;
  readonly minter: Minter;
  readonly localIds: LocalIdIndex;
  /** How long a job waits whose object another job is working on. */
  readonly busyWaitMs: number;
  readonly diskFullWaitMs: number;
  /** How long a job waits that needs the inventory while it is away. */
  readonly inventoryAwayWaitMs: number;
  readonly onInventoryAway: () => void;
}

export interface ProfileSource {
  get(
    name: string,
  ): { readonly ok: true; readonly profile: Profile } | { readonly ok: false; readonly problem: string };
}

/** Which object a depositor's own names stand for, and whose an object is. */
export type LocalIdIndex = Pick<Inventory, "findLocalIds" | "registerLocalIds" | "localIdsOf" | "belongingOf">;
