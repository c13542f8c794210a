/** What the nodes of a history by hand say. */
import {
  type BatchState,
  type EventKind,
  type JobEvent,
  type JobState,
  type JobStatus,
  records,
} from "@sluice/queue-core";
import { randomUUID } from "node:crypto";

export const EMPTY = Buffer.alloc(0);
export const AT = "2026-01-02 03:04:05 +0000";
export const AT_SECONDS = 1_767_322_245;
export const PROFILE = "sluice_demo_content";

export function jobStatus(patch: Partial<JobStatus> & { status: JobState }): Buffer {
  return records.jobStatus.encode({
    last_modified: AT,
    last_successful_status: null,
    retry_count: 0,
    message: "",
    ...patch,
  });
}

export const batchStatus = (status: BatchState): Buffer =>
  records.batchStatus.encode({ status, last_modified: AT, message: "" });

export const event = (kind: EventKind): JobEvent => [randomUUID(), AT_SECONDS, kind, "Pending", "somebody"];
