/** What the duties need of the world, as types: they are tested without network, ZooKeeper or engine. */
import type { Digest, Profile } from "@sluice/ingest-formats";
import type { BatchPlace, ErrorCode, Job } from "@sluice/queue-core";

/** Where a payload is, and what the depositor says about it. */
export interface PayloadPlace {
  readonly batch: BatchPlace;
  /** The name of the profile under which it is deposited. */
  readonly profile: string;
  /** http, https, or `upload:NAME` for a file in the batch's own folder. */
  readonly url: string;
  readonly digest?: Digest;
}

/** Why something could not be had. */
export interface PayloadFault {
  readonly ok: false;
  readonly code: ErrorCode;
  readonly message: string;
  /** `none`: it will never work. `retry`: the same may work later. `wait`: it is our own disk that has no room. */
  readonly remedy: "none" | "retry" | "wait";
  readonly retryAfterMs?: number;
}

export type Brought = { readonly ok: true; readonly path: string; readonly sha256: string } | PayloadFault;
export type Head = { readonly ok: true; readonly name: string; readonly text: string } | PayloadFault;

export interface Payloads {
  /** The first few kilobytes: enough to tell what it is. */
  head(place: PayloadPlace, signal: AbortSignal): Promise<Head>;
  /** Puts the manifest of a batch into the batch's folder, whole or not at all. */
  freezeManifest(place: PayloadPlace, signal: AbortSignal): Promise<Brought>;
  /** The frozen manifest, if its SHA-256 is still this one. */
  frozenManifest(batch: BatchPlace, sha256: string, signal: AbortSignal): Promise<Brought>;
  /** Puts the object manifest of a job into the folder of its claim. */
  keepManifest(
    place: PayloadPlace,
    job: Pick<Job, "id" | "batchId" | "batchEpoch" | "claim">,
    signal: AbortSignal,
  ): Promise<Brought>;
  /** Whether an upload is there and is what the depositor says. */
  checkUpload(place: PayloadPlace, signal: AbortSignal): Promise<{ readonly ok: true } | PayloadFault>;
  /** A file of ours, in pieces. */
  read(path: string): AsyncIterable<Uint8Array>;
}

export type ProfileOf = (
  name: string,
) => { readonly ok: true; readonly profile: Profile } | { readonly ok: false; readonly problem: string };
