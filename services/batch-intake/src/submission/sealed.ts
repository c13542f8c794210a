/** What a deposit for later holds as it was made. Nobody can change it: they cancel it and make another. */
import { NewBatch } from "@sluice/wire";
import { z } from "zod";

export const Sealed = z.object({
  batch: NewBatch,
  by: z.object({ id: z.string().min(1), name: z.string() }),
  /** Of the request that made it: whoever finds another one there came second. */
  request: z.string().min(1),
  /** Between two runs: the queue keeps it, whatever the repeat says. */
  leastIntervalMs: z.int().min(0).optional(),
  /** Names the schedule where its maker gave it a key. */
  key: z.string().max(128).optional(),
});
export type Sealed = z.infer<typeof Sealed>;

export const KeptSchedule = z.object({
  name: z.string(),
  data: z.object({ sealed: Sealed, runs: z.int().min(0) }),
});
export type KeptSchedule = z.infer<typeof KeptSchedule>;

/** It stands in one node of the queue's tree, as every job does whose data can be sealed. */
export const SCHEDULE_BYTES_MAX = 48 * 1024;
