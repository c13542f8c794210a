/** What holds state of a fleet outside the tree, and says of which: a folder, a journal, a store, a database. */
import type { FleetStamp } from "@sluice/queue-core";

export type StampRead =
  /** null: nothing was ever kept here for a fleet. */
  | { readonly kind: "read"; readonly stamp: FleetStamp | null }
  /** It cannot be asked just now, and nobody can work on it either: it is asked again until it can. */
  | { readonly kind: "away"; readonly why: string };

export interface StampedPart {
  /** For people: `the working folder /srv/sluice/queue`. */
  readonly name: string;
  /** Rejects when it is there and cannot be read. */
  read(): Promise<StampRead>;
  /** Durable when it returns. Whoever comes first names the fleet: read again afterwards. Without it the part is others' to stamp. */
  write?(stamp: FleetStamp, before: FleetStamp | null): Promise<void>;
  /** It was found to be this fleet's: from now on it may be used. */
  open?(): void;
}
