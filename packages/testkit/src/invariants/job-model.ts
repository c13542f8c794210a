import { records } from "@sluice/queue-core";
import type { LoggedOp } from "../transaction.ts";
import type { JobView, LockView } from "./views.ts";

const LOCK = "lock";

/** A new lock gets its token when its transaction is over. */
const TOKEN_UNKNOWN = -1;

export function lockMade(session: bigint, ephemeral: boolean, zxid: bigint): LockView {
  return { owner: ephemeral ? session : 0n, zxid, token: TOKEN_UNKNOWN };
}

/** /jobs/JID/NAME was written or deleted. */
export function applyToJobNode(job: JobView, name: string, op: LoggedOp, session: bigint, zxid: bigint): JobView {
  if (op.op === "check") return job;
  const children = withChild(job.children, name, op.op !== "delete");
  if (name === LOCK) {
    return { ...job, children, lock: op.op === "create" ? lockMade(session, op.ephemeral, zxid) : keptLock(job, op) };
  }
  const bytes = op.op === "delete" ? null : op.data;
  if (name === "status") return withStatus({ ...job, children }, bytes, op);
  return withData({ ...job, children }, name, bytes);
}

const keptLock = (job: { readonly lock: LockView | null }, op: LoggedOp): LockView | null =>
  op.op === "delete" ? null : job.lock;

function withStatus(job: JobView, bytes: Buffer | null, op: LoggedOp): JobView {
  const statusVersion = op.op === "set" ? op.version : op.op === "create" ? 0 : -1;
  // A claim writes the same bytes: most writes of a status need no parsing.
  if (bytes !== null && job.statusBytes?.equals(bytes) === true) return { ...job, statusVersion };
  const decoded = bytes === null ? null : records.jobStatus.decode(bytes);
  return { ...job, statusBytes: bytes, statusVersion, status: decoded?.ok === true ? decoded.value : null };
}

function withData(job: JobView, name: string, bytes: Buffer | null): JobView {
  switch (name) {
    case "bid": {
      const decoded = bytes === null ? null : records.bid.decode(bytes);
      // A deleted job's batch is still its batch while the rules are checked.
      return { ...job, batch: decoded?.ok === true ? decoded.value : job.batch };
    }
    case "priority": {
      const decoded = bytes === null ? null : records.priority.decode(bytes);
      return { ...job, priority: decoded?.ok === true ? decoded.value : null };
    }
    case "configuration":
      return { ...job, configuration: bytes };
    default:
      return job;
  }
}

export function withChild(children: ReadonlySet<string>, name: string, there: boolean): ReadonlySet<string> {
  if (children.has(name) === there) return children;
  const next = new Set(children);
  if (there) next.add(name);
  else next.delete(name);
  return next;
}

interface Fenced {
  readonly lock: LockView | null;
  readonly statusVersion: number;
}

/** The owner's own writes move its token; those of others leave it behind. */
export function withToken<V extends Fenced>(before: Fenced, after: V, session: bigint): V {
  const { lock, statusVersion } = after;
  if (lock === null) return after;
  const written = before.statusVersion !== statusVersion && lock.owner === session;
  if (lock.token !== TOKEN_UNKNOWN && !written) return after;
  return { ...after, lock: { ...lock, token: statusVersion } };
}

export const describeEntries = (job: JobView): string =>
  job.entries.map(({ state, priority }) => `${state.toLowerCase()}/${String(priority).padStart(2, "0")}`).join(" and ");
