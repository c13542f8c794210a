/**
 * The ZooKeeper we need, as types. Everything above this file speaks only this port; the adapter is its one real
 * implementation.
 *
 * Two rules are built into the types:
 * - There is no unconditional write. `set` and `delete` always name the version they believe in (ADR 0002).
 * - A call answers with a value, never with an exception: refusals are part of the protocol, and "we do not know"
 *   is an answer of its own that must be resolved, not retried.
 */

import type { Acl } from "./acl.ts";

/** A znode's metadata. Longs are bigints (the client hands out 8-byte buffers), times are ms of the server's clock. */
export interface Stat {
  readonly czxid: bigint;
  readonly mzxid: bigint;
  readonly pzxid: bigint;
  readonly ctime: number;
  readonly mtime: number;
  readonly version: number;
  readonly cversion: number;
  readonly ephemeralOwner: bigint;
  readonly dataLength: number;
  readonly numChildren: number;
}

export interface Node {
  readonly data: Buffer;
  readonly stat: Stat;
}

/** A node's access list; `version` counts its changes, apart from the data's. */
export interface NodeAcl {
  readonly entries: readonly Acl[];
  readonly version: number;
}

/** A definite "no" of the server: nothing of the request was applied. */
export type Refusal =
  "NO_NODE" | "NODE_EXISTS" | "BAD_VERSION" | "NOT_EMPTY" | "NO_AUTH" | "NO_CHILDREN_FOR_EPHEMERALS" | "BAD_ARGUMENTS";

/**
 * Why there is no answer:
 * - NOT_SENT: it never left this process (suspended past its deadline, over a size limit): surely not applied.
 * - UNKNOWN: it was sent and the answer is missing: applied or not. Resolve it on this session, never resend blindly.
 * - SESSION_LOST: the session is over; work bound to it must be dropped, not resolved.
 */
export type Silence = "NOT_SENT" | "UNKNOWN" | "SESSION_LOST";

export function isSilence(code: string): code is Silence {
  return code === "NOT_SENT" || code === "UNKNOWN" || code === "SESSION_LOST";
}

export interface Fault {
  readonly ok: false;
  readonly code: Refusal | Silence | "SERVER_ERROR";
  /** For people: which path, which limit, which server code. */
  readonly detail: string;
}

export interface Found<T> {
  readonly ok: true;
  readonly value: T;
}

export type Answer<T> = Found<T> | Fault;

export type Op =
  | { readonly op: "create"; readonly path: string; readonly data: Buffer; readonly ephemeral?: true }
  | { readonly op: "set"; readonly path: string; readonly data: Buffer; readonly version: number }
  | { readonly op: "delete"; readonly path: string; readonly version: number }
  /** `version` absent: only that the node exists. */
  | { readonly op: "check"; readonly path: string; readonly version?: number };

export interface Applied {
  readonly ok: true;
  readonly zxid: bigint;
  /** One per op, in order: the new stat of a `set`, else null. */
  readonly stats: readonly (Stat | null)[];
}

/** `index` is the op that ZooKeeper named as the first that failed; -1 when no op is to blame (silence). */
export type MultiAnswer = Applied | (Fault & { readonly index: number });

export type Read = { readonly get: string } | { readonly children: string };

export type ReadAnswer =
  | { readonly kind: "node"; readonly node: Node }
  | { readonly kind: "children"; readonly names: readonly string[] }
  | { readonly kind: "none" };

/** What became of one read among others that do not depend on it. */
export type EachAnswer = ReadAnswer | { readonly kind: "error"; readonly code: Refusal | "SERVER_ERROR" };

/** Called once, when what was read with it has changed. A watch dies silently with its session. */
export type Watch = () => void;

/**
 * connected: calls are served. suspended: no server answers just now; the session, and so its locks, may still live:
 * take no new work, start no effect. lost: it does not; everything bound to it is over.
 */
export type SessionState = "connected" | "suspended" | "lost";

/** One ZooKeeper session. When it is lost this object is finished for good; its keeper makes another one. */
export interface Session {
  readonly id: bigint;
  /** As negotiated with the server, which may differ from what was asked for, and from server to server. */
  readonly timeoutMs: number;
  readonly state: SessionState;
  /** Aborts when the session is lost or closed: bind the session's work to it. */
  readonly lost: AbortSignal;
  /** Calls back at each change of state; returns the way to stop listening. */
  onState(listener: (state: SessionState) => void): () => void;
  /** True as soon as the session is connected, false if it is lost first. */
  untilConnected(): Promise<boolean>;
  /** The server's clock as far as the stats of our own writes tell: delays in the tree count from the server's mtime. */
  serverNowMs(): number;

  get(path: string, watch?: Watch): Promise<Answer<Node>>;
  /** null when there is no such node; the watch then waits for its creation. */
  exists(path: string, watch?: Watch): Promise<Answer<Stat | null>>;
  children(path: string, watch?: Watch): Promise<Answer<{ readonly names: readonly string[]; readonly stat: Stat }>>;
  /**
   * All reads in one round trip (ZooKeeper's multiRead). Answers come in the order asked. What the server refuses to tell of one
   * of them is the answer to all: whoever decides by them must not take a refusal for a node that is not there.
   */
  readMany(reads: readonly Read[]): Promise<Answer<readonly ReadAnswer[]>>;
  /** As `readMany`, for things that have nothing to do with each other: one that cannot be read is no reason not to see the others. */
  readEach(reads: readonly Read[]): Promise<Answer<readonly EachAnswer[]>>;
  /** All or nothing, in order. */
  multi(ops: readonly Op[]): Promise<MultiAnswer>;
  /** What a node at this path would get if this session created it. */
  aclOf(path: string): readonly Acl[];
  getAcl(path: string): Promise<Answer<NodeAcl>>;
  /** `version` is that of the list. The server cannot do this in a multi. */
  setAcl(path: string, acl: readonly Acl[], version: number): Promise<Answer<null>>;
  /** Returns once every write this session sent before has been applied or never will be: a check-only multi. */
  barrier(): Promise<boolean>;
  /** Ends the session: its ephemeral nodes go at once instead of after the timeout. */
  close(): Promise<void>;
}

/** A time source. Monotonic time measures, wall time is only shown. */
export interface Clock {
  readonly nowMs: () => number;
  readonly monotonicMs: () => number;
}

export const systemClock: Clock = { nowMs: () => Date.now(), monotonicMs: () => performance.now() };
