/** What the processor is made of; `main.ts` joins the real ones. */
import type { Profile } from "@sluice/ingest-formats";
import type { WorkingFolder } from "@sluice/working-folder";
import type { ObjectStore } from "./store/object-store.ts";

export interface ProcessorParts {
  readonly folder: WorkingFolder;
  readonly profiles: ProfileSource;
  readonly store: ObjectStore;
  readonly minter: Minter;
  readonly localIds: LocalIdIndex;
  /** How long a job waits whose object another job is working on. */
  readonly busyWaitMs: number;
  readonly diskFullWaitMs: number;
}

export interface ProfileSource {
  get(
    name: string,
  ): { readonly ok: true; readonly profile: Profile } | { readonly ok: false; readonly problem: string };
}

/** Gives new ARKs. Nothing may depend on one before it is written to the job. */
export interface Minter {
  mint(profile: Profile): Promise<Minted>;
}
export type Minted =
  | { readonly kind: "minted"; readonly ark: string }
  | { readonly kind: "refused"; readonly message: string }
  | { readonly kind: "unavailable"; readonly message: string };

/** Which object a depositor's own name stands for. The inventory knows, once it has recorded one. */
export interface LocalIdIndex {
  find(ownerArk: string, localIds: readonly string[]): Promise<LocalIdAnswer>;
}
export type LocalIdAnswer =
  | { readonly kind: "none" }
  | { readonly kind: "found"; readonly ark: string }
  /** The names stand for several objects. */
  | { readonly kind: "conflict"; readonly message: string }
  | { readonly kind: "unavailable"; readonly message: string };

export const noLocalIds: LocalIdIndex = { find: () => Promise.resolve({ kind: "none" }) };
