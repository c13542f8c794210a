/** What rules of jobs and batches have in common. */
import type { Node, Op } from "@sluice/zookeeper";
import type { Fact, RuleContext, Suspicion } from "./facts.ts";

const EMPTY = Buffer.alloc(0);
export const createOp = (path: string, data: Buffer = EMPTY): Op => ({ op: "create", path, data });
export const deleteOp = (path: string, version: number): Op => ({ op: "delete", path, version });

/** The node is as it was read. */
export const unchanged = (path: string, fact: Fact<unknown> | null): readonly Op[] =>
  fact === null ? [] : [{ op: "check", path, version: fact.node.stat.version }];

/** ZooKeeper cannot check that a node is absent, but it refuses to make one that is there. */
export const goneOps = (path: string): readonly Op[] => [createOp(path), deleteOp(path, 0)];

interface LockCase {
  readonly path: string;
  readonly lock: Node;
  /** The state in which it rests, and so must not be locked; null = it may be worked on. */
  readonly rests: string | null;
  readonly guard: readonly Op[];
  readonly context: RuleContext;
}

/** A lock on what rests, or one that no session will ever take away, keeps everybody out for nothing. */
export function lockSuspicion({ path, lock, rests, guard, context }: LockCase): readonly Suspicion[] {
  const { stat } = lock;
  const mend = { says: `remove ${path}`, ops: [...guard, deleteOp(path, stat.version)] };
  if (rests !== null) {
    return [{ rule: "I-21", path, what: `locked, though ${rests}`, sinceMs: stat.ctime, mend }];
  }
  const age = context.nowMs - stat.ctime;
  if (age < context.lockMs) return [];
  if (stat.ephemeralOwner === 0n) {
    return [{ rule: "I-22", path, what: "is not ephemeral: it never goes by itself", sinceMs: null, mend }];
  }
  if (context.sessions.has(stat.ephemeralOwner)) return [];
  const what = `held for ${Math.round(age / 1000)} s by a session that has registered no worker`;
  const human = "find the process that holds it and end it: the lock goes with its session";
  return [{ rule: "I-22", path, what, sinceMs: null, mend: { human } }];
}

export const NODE_BYTES_MAX = 64 * 1024;

export function sizeSuspicions(path: string, data: Buffer): readonly Suspicion[] {
  if (data.length <= NODE_BYTES_MAX) return [];
  const human = "find out who wrote so much; large nodes slow down every server";
  return [{ rule: "I-38", path, what: `${data.length} bytes`, sinceMs: null, mend: { human } }];
}

/** Something before an @ in the authority of a URL. What it is must not be told. Begins at the colon, so it is linear. */
const USERINFO = /:\/\/[^\s/?#"'<>]*@/;

export function urlSuspicions(path: string, data: Buffer): readonly Suspicion[] {
  if (!USERINFO.test(data.toString("utf8"))) return [];
  const human = "change that password now: whoever can read the tree has seen it; then submit again without it";
  return [{ rule: "I-39", path, what: "a URL carries a user name or password", sinceMs: null, mend: { human } }];
}
