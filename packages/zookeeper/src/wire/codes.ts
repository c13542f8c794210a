import type { Fault, Refusal } from "../port.ts";

export const OPCODE = {
  create: 1,
  delete: 2,
  exists: 3,
  getData: 4,
  setData: 5,
  getAcl: 6,
  setAcl: 7,
  getChildren: 8,
  ping: 11,
  getChildren2: 12,
  check: 13,
  multi: 14,
  multiRead: 22,
  auth: 100,
  setWatches: 101,
  closeSession: -11,
  error: -1,
} as const;

/** Frames that are not answers to a numbered request carry these in place of its number. */
export const XID = { notification: -1, ping: -2, auth: -4, setWatches: -8 } as const;

export const ERR = { ok: 0, noNode: -101, sessionExpired: -112 } as const;

const REFUSALS: ReadonlyMap<number, Refusal> = new Map([
  [-8, "BAD_ARGUMENTS"],
  [-101, "NO_NODE"],
  [-102, "NO_AUTH"],
  [-103, "BAD_VERSION"],
  [-108, "NO_CHILDREN_FOR_EPHEMERALS"],
  [-110, "NODE_EXISTS"],
  [-111, "NOT_EMPTY"],
]);

/** Worth a word: it is what a server says to whom it has not verified, and to a scheme it has no provider for. */
const INVALID_ACL = -114;

/** Every number has a meaning here: servers know more codes than any client's list. */
export function codeOf(err: number): Refusal | "SERVER_ERROR" {
  return REFUSALS.get(err) ?? "SERVER_ERROR";
}

export function faultOf(err: number, subject: string): Fault {
  const code = codeOf(err);
  if (code !== "SERVER_ERROR") return { ok: false, code, detail: subject };
  const hint = err === INVALID_ACL ? " (the server knows no identity of ours, or not the scheme of a reader)" : "";
  return { ok: false, code, detail: `server error ${err}${hint}: ${subject}` };
}
