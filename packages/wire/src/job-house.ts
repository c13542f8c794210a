/** What the job queue's keepers ask of a job-api, besides its users' API. */
import { z } from "zod";
import { endpoint } from "./endpoint.ts";

export const Purged = z.object({ gone: z.int().describe("files") }).meta({ id: "Purged" });

export const JOB_HOUSE = {
  purge: endpoint({
    id: "purge",
    method: "post",
    path: "/v1/purge",
    group: "Queue",
    summary: "Let go of what was kept for a while: old runs of the archive, or blobs that nothing names",
    permission: "act-on-workers",
    body: z.strictObject({
      what: z.enum(["runs", "blobs"]),
      older_than_ms: z.int().min(3_600_000).optional().describe("runs: files that were last written to before that"),
    }),
    answer: Purged,
    status: 200,
  }),
} as const;
