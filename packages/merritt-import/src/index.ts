export { importOldTree, lookAtOldTree, type Looked } from "./import.ts";
export type { CarriedOut, CarryOutOptions } from "./carry-out.ts";
export type { BatchToBring, ImportPlan, LeftOut, PlanOptions } from "./plan.ts";
export type { PlannedBatch } from "./plan-batch.ts";
export type { Cannot, PlannedJob } from "./plan-job.ts";
export type { OldTree } from "./old-tree.ts";
export { bringFileInto, oldFilesIn } from "./files.ts";
export type { FileToBring, OldFiles } from "./payload.ts";
