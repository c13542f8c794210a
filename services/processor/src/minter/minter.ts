/**
 * Where new ARKs come from, in three steps, so that a process that dies wastes no name and tells nobody of an object
 * that is not there: a name is proposed (nobody has heard of it), written to the job, registered (reserved, not public),
 * and published once its object is stored.
 */
import type { Profile } from "@sluice/ingest-formats";

export interface Minter {
  /** The same name for the same wish, whoever asks: a job that is made again after a disaster finds its own object. */
  propose(profile: Profile, wish: NameWish): Proposed;
  /** Idempotent by (ARK, job). */
  register(request: MintRequest): Promise<MintAnswer>;
  /** Idempotent. For ARKs that were not minted here, a wish. */
  publish(request: MintRequest): Promise<MintAnswer>;
}

export interface NameWish {
  /** The job's UUID. */
  readonly job: string;
  /** How many names proposed to it turned out to be others'. */
  readonly taken: number;
}

export type Proposed = { readonly ok: true; readonly ark: string } | { readonly ok: false; readonly message: string };

export interface MintRequest {
  readonly profile: Profile;
  readonly ark: string;
  /** The job's UUID. */
  readonly job: string;
  readonly who: string | undefined;
  readonly what: string | undefined;
  readonly when: string | undefined;
  readonly localIds: readonly string[];
  /** The depositor wants the ARK to lead where it leads. */
  readonly retainTarget: boolean;
  readonly signal: AbortSignal;
}

export type MintAnswer =
  | { readonly kind: "ok" }
  /** Somebody else's: propose another. */
  | { readonly kind: "taken"; readonly message: string }
  | { readonly kind: "refused"; readonly message: string }
  | { readonly kind: "unavailable"; readonly message: string };
