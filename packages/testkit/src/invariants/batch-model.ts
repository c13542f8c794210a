import { records } from "@sluice/queue-core";
import type { LoggedOp } from "../transaction.ts";
import { lockMade, withChild } from "./job-model.ts";
import type { BatchView } from "./views.ts";

/** /batches/BID/NAME was written or deleted. */
export function applyToBatchNode(
  batch: BatchView,
  name: string,
  op: LoggedOp,
  session: bigint,
  zxid: bigint,
): BatchView {
  if (op.op === "check") return batch;
  const next = { ...batch, children: withChild(batch.children, name, op.op !== "delete") };
  const bytes = op.op === "delete" ? null : op.data;
  switch (name) {
    case "lock": {
      const kept = op.op === "delete" ? null : batch.lock;
      return { ...next, lock: op.op === "create" ? lockMade(session, op.ephemeral, zxid) : kept };
    }
    case "status":
      return withStatus(next, bytes, op);
    case "submission":
      return { ...next, submission: bytes };
    case "status-report":
      return { ...next, report: bytes, reportZxid: zxid };
    default:
      return next;
  }
}

function withStatus(batch: BatchView, bytes: Buffer | null, op: LoggedOp): BatchView {
  const statusVersion = op.op === "set" ? op.version : op.op === "create" ? 0 : -1;
  if (bytes !== null && batch.statusBytes?.equals(bytes) === true) return { ...batch, statusVersion };
  const decoded = bytes === null ? null : records.batchStatus.decode(bytes);
  return { ...batch, statusBytes: bytes, statusVersion, status: decoded?.ok === true ? decoded.value : null };
}

export function withExpansion(batch: BatchView, op: LoggedOp): BatchView {
  if (op.op === "check") return batch;
  const decoded = op.op === "delete" ? null : records.expansion.decode(op.data);
  return { ...batch, expansion: decoded?.ok === true ? decoded.value : null };
}
