/** Files that came with a submission: what it says of them, and how a payload's URL names one. */
import type { Submission } from "@sluice/queue-core";
import { z } from "zod";

const Upload = z.object({ name: z.string(), size: z.number().int().min(0), type: z.string() });
export type Upload = Readonly<z.infer<typeof Upload>>;

const UPLOAD = "upload:";

/** A file in the batch's own folder, as a URL: a payload always has one. */
export const uploadUrl = (name: string): string => UPLOAD + name;
/** The file's name; null for payloads that are elsewhere. */
export const uploadName = (url: string): string | null => (url.startsWith(UPLOAD) ? url.slice(UPLOAD.length) : null);

/** Those that stand in the submission's record, because there were several, and each becomes a job. */
export function uploadsOf(submission: Submission): readonly Upload[] {
  const read = z.array(Upload).safeParse(submission["uploads"]);
  return read.success ? read.data : [];
}

const MANIFESTS = "inline_manifests";

/** Of an object that was given in the request with its files: what the batch's manifest names. They count from 1. */
export const inlineManifestName = (number: number): string => `object-${number}.checkm`;

/** For the submission's record: so many objects have manifests of their own in the batch's folder. */
export const inlineManifests = (count: number): Readonly<Record<string, number>> =>
  count === 0 ? {} : { [MANIFESTS]: count };

export function inlineManifestNames(submission: Submission): readonly string[] {
  const read = z.number().int().min(0).safeParse(submission[MANIFESTS]);
  return Array.from({ length: read.success ? read.data : 0 }, (_, i) => inlineManifestName(i + 1));
}

/** Every file without which the batch cannot be done. */
export function uploadNames(submission: Submission): readonly string[] {
  const several = uploadsOf(submission).map(({ name }) => name);
  const one = uploadName(submission.payload_url);
  return several.length > 0 || one === null ? several : [one, ...inlineManifestNames(submission)];
}
