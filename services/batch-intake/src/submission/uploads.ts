/** The files of a submission that came with several: they stand in its record, and each becomes a job. */
import type { Submission } from "@sluice/queue-core";
import { z } from "zod";

const Upload = z.object({ name: z.string(), size: z.number().int().min(0), type: z.string() });
export type Upload = Readonly<z.infer<typeof Upload>>;

/** Empty for a submission with one payload. */
export function uploadsOf(submission: Submission): readonly Upload[] {
  const read = z.array(Upload).safeParse(submission["uploads"]);
  return read.success ? read.data : [];
}
