/** Ids as they come in a path. */
import { parseBatchId, parseBatchUuid, parseJobId, parseJobUuid } from "@sluice/queue-core";
import { z } from "zod";

const idOf = (example: string, expected: string, isId: (raw: string) => boolean) =>
  z.object({
    id: z
      .string()
      .refine(isId, `expected ${expected}`)
      .describe(expected)
      .meta({ examples: [example] }),
  });

export const batchId = idOf(
  "bid0000000001",
  "`bid` and ten digits, or `bid-` and a UUID",
  (raw) => parseBatchId(raw) !== null || parseBatchUuid(raw) !== null,
);

export const jobId = idOf(
  "jid0000000001",
  "`jid` and ten digits, or `jid-` and a UUID",
  (raw) => parseJobId(raw) !== null || parseJobUuid(raw) !== null,
);
