import { BATCH_STATES, JOB_STATES, STAGES } from "@sluice/queue-core";
import { z } from "zod";

export const jobState = z.enum(JOB_STATES);
export const batchState = z.enum(BATCH_STATES);
export const stage = z.enum(STAGES);

/** RFC 3339, UTC. */
export const time = z.iso.datetime();

/** `jid0000000001` or `jid-UUID`; batches alike. */
export const anyId = z.object({ id: z.string().min(1).max(64) });

/** Why an operator does it: stands in the audit, and in the job's history. */
export const reason = z.string().trim().min(3).max(1_000).describe("why: for the audit and the history");

/** The two query parameters that every list has. */
export const page = {
  limit: z.coerce.number("expected a whole number").int().min(1).max(200).optional().describe("at most so many items"),
  cursor: z.string().max(512).optional().describe("next_cursor of the page before"),
};

/** A page may be short, even empty, and not the last: only a cursor of null says that. */
export const pageOf = <S extends z.ZodType>(item: S) =>
  z.object({ items: z.array(item), next_cursor: z.string().nullable() });

export const HoldView = z.object({ by: z.string(), since: time.nullable(), why: z.string(), until: time.nullable() });
export type HoldView = z.infer<typeof HoldView>;
