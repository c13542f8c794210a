import type { Belonging, Writer } from "@sluice/ingest-formats";

/**
 * Where objects are kept. An adapter per kind of store, chosen by STORAGE_URL.
 *
 * `put` is idempotent by (ARK, job): a job that was stored before gets the same answer again, whoever asks and how
 * often. It survives being killed at any line, and being run beside a zombie of itself.
 */
export interface ObjectStore {
  /** What mrt-ingest.txt names as the storage service. */
  readonly name: string;
  put(request: StoreRequest, ctx: StoreContext): Promise<StoreResult>;
  /** Whether there is an object of this name, by whomever. */
  holds(object: ObjectAddress, signal: AbortSignal): Promise<Holding>;
  /** Whose object is there, as its newest version says. */
  look(object: ObjectAddress, signal: AbortSignal): Promise<Standing>;
}

export type ObjectAddress = Pick<StoreRequest, "ark" | "node">;

export type Holding =
  { readonly kind: "there" } | { readonly kind: "absent" } | { readonly kind: "unavailable"; readonly message: string };

export type Standing =
  | { readonly kind: "absent" }
  /** `belongs` is null if the version does not say it. */
  | { readonly kind: "there"; readonly version: number; readonly belongs: Belonging | null }
  | Refusal
  | Unavailability;

export interface StoreContext {
  readonly signal: AbortSignal;
  /** Passed between any two steps that leave a trace: throws when the work must not go on. */
  readonly checkpoint: (step: string) => Promise<void>;
}

export type StoreMode = "add" | "update";

export interface StoreRequest {
  readonly ark: string;
  /** The job's UUID: unique over all histories of a queue, so that a store outlives the tree that filled it. */
  readonly job: string;
  /** `add`: these files are the object. `update`: the producer files of the version before stay where they are not replaced. */
  readonly mode: StoreMode;
  /** The ARK is a new one: an object that is there, and not by this job, is somebody else's. */
  readonly fresh: boolean;
  /** The profile that stores. It may follow versions up to `judged` (0: none); of later ones the store itself judges. */
  readonly writer: Writer;
  readonly judged: number;
  /** The profile's StorageNode, where the store has several. */
  readonly node: number | undefined;
  readonly note: string;
  readonly user: string;
  /** RFC 3339. */
  readonly created: string;
  readonly files: readonly StoreFile[];
  /** Logical paths of the version before that an update leaves out; one that is not there is refused. */
  readonly deletes: readonly string[];
}

export interface StoreFile {
  /** `producer/…` or `system/…`. */
  readonly logicalPath: string;
  readonly source: string;
  readonly size: number;
  readonly sha256: string;
  readonly sha512: string;
}

export type StoreResult =
  | {
      readonly kind: "stored";
      readonly version: number;
      /** What the recorder reads: the inventory of this version. */
      readonly manifestUrl: string;
      /** `update` if there was a version before. */
      readonly mode: StoreMode;
    }
  /** Another's object came there meanwhile, and the writer may not change it. */
  | { readonly kind: "foreign" }
  | Refusal
  | Unavailability;

/** Asking again will not help. */
interface Refusal {
  readonly kind: "refused";
  readonly message: string;
}

/** It may, later. */
interface Unavailability {
  readonly kind: "unavailable";
  readonly message: string;
}
