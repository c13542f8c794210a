import type { JobState } from "@sluice/queue-core";
import type { LoggedOp } from "../transaction.ts";
import type { Finding } from "./names.ts";

const NODE_BYTES_MAX = 64 * 1024;
const MULTI_BYTES_MAX = 512 * 1024;
const QUEUE_DEPTH_MAX = 50_000;
/** Header, ACL and lengths of one op on the wire, roughly. */
const OP_OVERHEAD_BYTES = 60;

/** ZooKeeper and CDL's tools have limits; what passes ours is too near to them. */
export function oversize(ops: readonly LoggedOp[], depth: ReadonlyMap<JobState, number>): Finding {
  let total = 0;
  for (const op of ops) {
    const bytes = op.op === "create" || op.op === "set" ? op.data.length : 0;
    if (bytes > NODE_BYTES_MAX) return `${op.path} has ${bytes} bytes`;
    total += bytes + op.path.length + OP_OVERHEAD_BYTES;
  }
  if (total > MULTI_BYTES_MAX) return `a multi of ${ops.length} ops and ${total} bytes`;
  for (const [state, entries] of depth) {
    if (entries >= QUEUE_DEPTH_MAX) return `${entries} entries in ${state}`;
  }
  return null;
}
