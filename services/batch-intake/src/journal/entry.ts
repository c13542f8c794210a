/** A submission in the journal: all that its creation needs, so that it can be made later exactly as it would have been now. */
import {
  type BatchId,
  type BatchUuid,
  FIRST_EPOCH,
  parseBatchId,
  parseBatchUuid,
  records,
  type Submission,
} from "@sluice/queue-core";
import { z } from "zod";

/** Where the uploads are. */
export type JournaledUpload =
  /** In a folder that waits for a number. */
  | { readonly kind: "kept"; readonly folder: string }
  /** Under the number that was reserved, in that tree, before the queue fell silent: the batch may be there already. */
  | { readonly kind: "numbered"; readonly batch: BatchId; readonly epoch: number; readonly fleet: string };

export interface Journaled {
  /** Made at acceptance; creating it twice makes it once. */
  readonly uuid: BatchUuid;
  readonly submission: Submission;
  readonly upload: JournaledUpload | null;
}

const Upload = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("kept"), folder: z.string() }),
  z.object({
    kind: z.literal("numbered"),
    batch: z.string(),
    epoch: z.number().int().default(FIRST_EPOCH),
    fleet: z.string(),
  }),
]);
const Entry = z.object({
  version: z.literal(1),
  uuid: z.string(),
  submission: z.record(z.string(), z.unknown()),
  upload: Upload.nullable(),
});

export const encodeEntry = ({ uuid, submission, upload }: Journaled): Buffer =>
  Buffer.from(JSON.stringify({ version: 1, uuid, submission, upload }));

/** null = nothing that this version has written. */
export function decodeEntry(data: Buffer): Journaled | null {
  const entry = Entry.safeParse(parseJson(data));
  if (!entry.success) return null;
  const uuid = parseBatchUuid(entry.data.uuid);
  const submission = records.submission.decode(Buffer.from(JSON.stringify(entry.data.submission)));
  const upload = uploadOf(entry.data.upload);
  return uuid === null || !submission.ok || upload === undefined
    ? null
    : { uuid, submission: submission.value, upload };
}

function uploadOf(upload: z.infer<typeof Upload> | null): JournaledUpload | null | undefined {
  if (upload?.kind !== "numbered") return upload;
  const batch = parseBatchId(upload.batch);
  return batch === null ? undefined : { ...upload, batch };
}

export function parseJson(data: Buffer): unknown {
  try {
    return JSON.parse(data.toString("utf8"));
  } catch {
    return undefined;
  }
}
