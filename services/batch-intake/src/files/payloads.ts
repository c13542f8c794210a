/** The duties' files: manifests and uploads in the working folder, and the way out to fetch them. */
import { createReadStream } from "node:fs";
import type { BatchPlace } from "@sluice/queue-core";
import {
  type ContainedFolder,
  digestMatches,
  type DigestName,
  downloadTo,
  type Egress,
  type Outcome,
} from "@sluice/safe-io";
import { MANIFEST_FILE, type WorkingFolder } from "@sluice/working-folder";
import { uploadName } from "@sluice/working-folder";
import type { Brought, Payloads, PayloadPlace } from "../ports.ts";
import { failure, payloadFault, success } from "./fault.ts";
import { headOf } from "./head.ts";
import { meterFile } from "./meter-file.ts";

export interface PayloadFiles {
  readonly working: WorkingFolder;
  readonly egress: Egress;
  readonly manifestMaxBytes: number;
}

export function openPayloads(files: PayloadFiles): Payloads {
  return {
    head: (place, signal) => headOf(files, place, signal),
    async freezeManifest(place, signal) {
      return bring(files, place, await files.working.batchFolder(place.batch), signal);
    },
    frozenManifest: (batch, sha256, signal) => frozenManifest(files, batch, sha256, signal),
    async keepManifest(place, job, signal) {
      const claim = await files.working.claimFolder(job, job.claim);
      return bring(files, place, claim.ok ? success(claim.value.top) : claim, signal);
    },
    async checkUpload(place, signal) {
      const checked = await verifiedUpload(files, place, signal);
      return checked.ok ? { ok: true } : payloadFault(checked.error, "PAYLOAD_UNREADABLE");
    },
    read: readLater,
  };
}

/** Opened when the first piece is asked for, and closed with the last: what nobody reads is never open. */
async function* readLater(path: string): AsyncGenerator<Uint8Array> {
  yield* createReadStream(path) as AsyncIterable<Buffer>;
}

/** Puts a manifest as `manifest.checkm` into a folder, replacing what an earlier attempt left there. */
async function bring(
  files: PayloadFiles,
  place: PayloadPlace,
  folder: Outcome<ContainedFolder>,
  signal: AbortSignal,
): Promise<Brought> {
  if (!folder.ok) return payloadFault(folder.error, "PAYLOAD_UNREADABLE");
  const brought =
    uploadName(place.url) === null
      ? await download(files, place, folder.value, signal)
      : await copyUpload(files, place, folder.value, signal);
  if (!brought.ok) return payloadFault(brought.error, "MANIFEST_UNREACHABLE");
  const path = folder.value.pathOf(MANIFEST_FILE);
  return path.ok
    ? { ok: true, path: path.value, sha256: brought.value }
    : payloadFault(path.error, "MANIFEST_UNREACHABLE");
}

async function download(
  { egress, manifestMaxBytes }: PayloadFiles,
  { url, profile, digest }: PayloadPlace,
  folder: ContainedFolder,
  signal: AbortSignal,
): Promise<Outcome<string>> {
  const fetched = await downloadTo(egress, url, folder, MANIFEST_FILE, {
    request: { profile },
    signal,
    maxBytes: manifestMaxBytes,
    ...(digest === undefined ? {} : { expectedDigest: digest }),
  });
  return fetched.ok ? success(fetched.value.digests.sha256 ?? "") : fetched;
}

/** The upload stays where it is: it is what the depositor sent. */
async function copyUpload(
  files: PayloadFiles,
  place: PayloadPlace,
  folder: ContainedFolder,
  signal: AbortSignal,
): Promise<Outcome<string>> {
  const checked = await verifiedUpload(files, place, signal);
  if (!checked.ok) return checked;
  if (checked.value.bytes > files.manifestMaxBytes) {
    const message = `the manifest has more than ${files.manifestMaxBytes} bytes`;
    return failure({ code: "TOO_LARGE", message, retryable: false });
  }
  const source = await checked.value.folder.readStream(checked.value.name);
  if (!source.ok) return source;
  const copy = await folder.begin(MANIFEST_FILE);
  if (!copy.ok) {
    source.value.destroy();
    return copy;
  }
  const copied = await meterFile(source.value, copy.value.handle, ["sha256"], signal);
  if (!copied.ok) {
    await copy.value.abandon();
    return copied;
  }
  const finished = await copy.value.finish();
  return finished.ok ? success(copied.value.digests.sha256 ?? "") : finished;
}

interface Upload {
  readonly folder: ContainedFolder;
  readonly name: string;
  readonly bytes: number;
}

/** An upload that is there and, as far as the depositor says what it should be, is that. */
async function verifiedUpload(
  { working }: PayloadFiles,
  { batch, url, digest }: PayloadPlace,
  signal: AbortSignal,
): Promise<Outcome<Upload>> {
  const folder = await working.uploads(batch);
  if (!folder.ok) return folder;
  const name = uploadName(url) ?? "";
  const found = await folder.value.stat(name);
  if (!found.ok) return found;
  const upload = { folder: folder.value, name, bytes: found.value.bytes };
  if (digest === undefined) return success(upload);
  const digests = await digestsOf(folder.value, name, [digest.algorithm], signal);
  if (!digests.ok) return digests;
  if (digestMatches(digests.value, digest)) return success(upload);
  const is = digests.value[digest.algorithm] ?? "";
  const message = `${name}: ${digest.algorithm} is ${is} instead of ${digest.value}`;
  return failure({ code: "DIGEST_MISMATCH", message, retryable: false });
}

async function digestsOf(
  folder: ContainedFolder,
  name: string,
  algorithms: readonly DigestName[],
  signal: AbortSignal,
) {
  const stream = await folder.readStream(name);
  if (!stream.ok) return stream;
  const metered = await meterFile(stream.value, null, algorithms, signal);
  return metered.ok ? success(metered.value.digests) : metered;
}

async function frozenManifest(
  { working }: PayloadFiles,
  batch: BatchPlace,
  sha256: string,
  signal: AbortSignal,
): Promise<Brought> {
  const folder = await working.batchFolder(batch);
  if (!folder.ok) return payloadFault(folder.error, "FILES_MISSING");
  const digests = await digestsOf(folder.value, MANIFEST_FILE, ["sha256"], signal);
  if (!digests.ok) return payloadFault(digests.error, "FILES_MISSING");
  if (digests.value.sha256 === sha256) return { ok: true, path: working.batchManifest(batch), sha256 };
  const message = `the frozen manifest of ${batch.batchId} is not the one that was validated`;
  return { ok: false, code: "FILES_MISSING", message, remedy: "retry" };
}
