/** Where pages begin. The wire has cursors as texts; what they hold is each list's own. */
import { cursorOf } from "@sluice/http-api";
import { JOB_STATES, parseBatchId, parseJobId } from "@sluice/queue-core";
import { z } from "zod";

export const LIMIT_DEFAULT = 50;

const parsedBy = <T extends string>(parse: (raw: string) => T | null) =>
  z.string().transform((raw, ctx): T => {
    const id = parse(raw);
    if (id === null) ctx.addIssue({ code: "custom", message: "no id" });
    return id ?? z.NEVER;
  });

export const batchCursor = cursorOf("batches", parsedBy(parseBatchId));
export const batchJobCursor = cursorOf("jobs of a batch", parsedBy(parseJobId));
/** Goes on after this entry of this state. */
export const jobCursor = cursorOf(
  "jobs",
  z.object({ state: z.enum(JOB_STATES), priority: z.number().int(), id: parsedBy(parseJobId) }),
);
export const auditCursor = cursorOf("audit", z.number().int().min(1));
export const nameCursor = (list: string) => cursorOf(list, z.string().max(400));

export { readCursor } from "@sluice/http-api";
