/** Where a payload is: at an address, or in a folder of the old fleet. Pure. */
import type { BatchId } from "@sluice/queue-core";
import { type JsonObject, textOf } from "./words.ts";

/** The old fleet's folders. */
export interface OldFiles {
  /** Whether there is such a plain file, below the folder of its queue. */
  has(relativePath: string): boolean;
}

/** A file that must be in our working folder before its job is. */
export interface FileToBring {
  /** Below the old fleet's queue folder. */
  readonly from: string;
  readonly batch: BatchId;
  /** In the batch's `uploads`. */
  readonly name: string;
}

export type FoundPayload =
  | { readonly kind: "url"; readonly url: string; readonly name: string | undefined }
  | { readonly kind: "file"; readonly url: string; readonly name: string; readonly file: FileToBring }
  | { readonly kind: "nowhere"; readonly why: string };

export interface PayloadOwner {
  readonly batch: BatchId;
  readonly batchUuid: string | undefined;
  /** Of a job: its number here and its name outside. */
  readonly job?: { readonly id: string; readonly uuid: string | undefined };
}

/** An address as it stands in a configuration; user names and passwords have no place in the tree. */
function addressIn(raw: JsonObject): URL | null {
  const text = textOf(raw, "payload_url", "url") ?? textOf(raw, "filename");
  return text !== undefined && /^(https?|ftp):\/\//i.test(text) && URL.canParse(text) ? new URL(text) : null;
}

export function findPayload(raw: JsonObject, owner: PayloadOwner, files: OldFiles | null): FoundPayload {
  const address = addressIn(raw);
  const ours = textOf(raw, "payload_url");
  if (ours?.startsWith("upload:") === true) {
    return { kind: "url", url: ours, name: textOf(raw, "payload_name") }; // an earlier run has brought it
  }
  const name = textOf(raw, "payload_name", "filename");
  if (address !== null) {
    if (address.username !== "" || address.password !== "") {
      return { kind: "nowhere", why: "its address holds a user name or password: have it submitted again without" };
    }
    return { kind: "url", url: address.href, name: name === address.href ? undefined : name };
  }
  if (name === undefined) return { kind: "nowhere", why: "neither payload_url nor filename says what it is" };
  if (name.includes("/") || name.includes("\0") || name === "." || name === "..") {
    return { kind: "nowhere", why: `${JSON.stringify(name)} is no file name` };
  }
  if (files === null) return { kind: "nowhere", why: `${name} is a file of the old fleet: name its folder` };
  return fileNamed(name, owner, files);
}

/** Where the old ingest service leaves it: in the batch's folder, later in its job's, or as a job's manifest. */
function fileNamed(name: string, { batch, batchUuid, job }: PayloadOwner, files: OldFiles): FoundPayload {
  if (batchUuid === undefined) return { kind: "nowhere", why: "without batchID nobody can tell its folder" };
  const found = (from: string, kept: string): FoundPayload => {
    const file: FileToBring = { from, batch, name: kept };
    return { kind: "file", url: `upload:${kept}`, name, file };
  };
  if (job?.uuid !== undefined) {
    const folder = `${batchUuid}/${job.uuid}`;
    for (const from of [`${folder}/producer/${name}`, `${folder}/${name}`]) {
      if (files.has(from)) return found(from, `${job.id}-${name}`);
    }
  }
  const from = `${batchUuid}/${name}`;
  if (files.has(from)) return found(from, name);
  return { kind: "nowhere", why: `${name} is in none of its old folders (an unpacked container is deleted there)` };
}
