/** How batches, jobs and the rest look in tables. */
import type { BatchSummary, HoldView, JobSummary, OperationView } from "@sluice/wire";
import type { Column } from "../output/table.ts";
import { showBytes } from "../output/text.ts";

export const BATCH_COLUMNS: readonly Column<BatchSummary>[] = [
  { title: "BATCH", of: ({ bid }) => bid },
  { title: "STATUS", of: ({ status }) => status, state: true },
  { title: "PROFILE", of: ({ profile }) => profile },
  { title: "ROWS", of: ({ rows }) => (rows === null ? "?" : String(rows)), right: true },
  { title: "DONE", of: ({ counts }) => String(counts.completed), right: true },
  { title: "FAILED", of: ({ counts }) => String(counts.failed), right: true },
  { title: "SUBMITTED", of: ({ submitted }, { time }) => time(submitted) },
  { title: "TITLE", of: ({ title, payload_name: name }) => title ?? name ?? "", flexible: true },
  { title: "MESSAGE", of: ({ message }) => message, flexible: true },
  { title: "SUBMITTER", of: ({ submitter }) => submitter, wide: true },
  { title: "TYPE", of: ({ type }) => type ?? "", wide: true },
  { title: "ID", of: ({ id }) => id, wide: true },
];

export const JOB_COLUMNS: readonly Column<JobSummary>[] = [
  { title: "JOB", of: ({ jid }) => jid },
  { title: "STATUS", of: ({ status }) => status, state: true },
  { title: "BATCH", of: ({ bid }) => bid ?? "" },
  { title: "PROFILE", of: ({ profile }) => profile },
  { title: "PRI", of: ({ priority }) => (priority === null ? "" : String(priority).padStart(2, "0")), right: true },
  { title: "SIZE", of: ({ space_needed: bytes }) => (bytes === null ? "" : showBytes(bytes)), right: true },
  { title: "CHANGED", of: ({ last_modified: at }, { time }) => time(at) },
  { title: "NAME", of: ({ payload_name: name, title }) => name ?? title ?? "", flexible: true },
  { title: "MESSAGE", of: ({ message, waiting_for: why }) => message || (why ?? ""), flexible: true },
  { title: "ARK", of: ({ primary_id: ark }) => ark ?? "", wide: true },
  { title: "LOCAL IDS", of: ({ local_id: ids }) => ids.join(";"), wide: true },
  { title: "SUBMITTER", of: ({ submitter }) => submitter, wide: true },
  { title: "ID", of: ({ id }) => id, wide: true },
];

export const OPERATION_COLUMNS: readonly Column<OperationView>[] = [
  { title: "OPERATION", of: ({ id }) => id },
  { title: "STATE", of: ({ state }) => state, state: true },
  { title: "ACTION", of: ({ action }) => action },
  { title: "DONE", of: ({ applied }) => String(applied), right: true },
  { title: "OF", of: ({ total }) => String(total), right: true },
  { title: "REFUSED", of: ({ refused }) => String(refused.reduce((sum, { count }) => sum + count, 0)), right: true },
  { title: "BY", of: ({ by }) => by },
  { title: "STARTED", of: ({ started }, { time }) => time(started) },
  { title: "REASON", of: ({ reason }) => reason, flexible: true },
];

export const holdText = (hold: HoldView | null): string =>
  hold === null ? "" : `by ${hold.by}: ${hold.why}${hold.until === null ? "" : ` (until ${hold.until})`}`;
