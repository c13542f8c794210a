/**
 * One object at a time: ephemeral locks under /locks/storage, /locks/inventory and /locks/localid, in CDL's names.
 * Several are taken in sorted order, all or none, in one multi; busy is an answer, waiting is the caller's business.
 */
import type { Op, ReadAnswer } from "@sluice/zookeeper";
import type { Actor, QueueContext } from "./context.ts";
import { deleteOp } from "./job-ops.ts";
import { type Lock, records } from "./records.ts";
import { sendFenced } from "./send.ts";
import { formatTimestamp } from "./timestamp.ts";

export interface ObjectLocks {
  readonly claim: string;
  readonly paths: readonly string[];
}

export type ObjectLockResult =
  | { readonly kind: "acquired"; readonly locks: ObjectLocks }
  | { readonly kind: "busy"; readonly path: string }
  | { readonly kind: "lost" };

export async function acquireObjectLocks(
  ctx: QueueContext,
  actor: Actor,
  lockPaths: readonly string[],
): Promise<ObjectLockResult> {
  const sorted = [...new Set(lockPaths)].sort();
  const claim = ctx.newId();
  const lock: Lock = { owner: actor.worker, stage: actor.stage, claim, since: formatTimestamp(ctx.clock.nowMs()) };
  const data = records.lock.encode(lock);
  const ops = sorted.map((path): Op => ({ op: "create", path, data, ephemeral: true }));
  const sent = await sendFenced(ctx, { rank: "claim", ops }, async () => {
    const node = await ctx.session.get(sorted[0] ?? "/");
    if (!node.ok) return node.code === "NO_NODE" ? "send-again" : "ask-again";
    const found = records.lock.decode(node.value.data);
    return found.ok && found.value.claim === claim ? "applied" : "not-applied";
  });
  if (sent.kind === "applied") return { kind: "acquired", locks: { claim, paths: sorted } };
  if (sent.kind === "refused" && sent.fault.code === "NODE_EXISTS") {
    return { kind: "busy", path: sorted[sent.fault.index] ?? "" };
  }
  return sent.kind === "not-applied" ? { kind: "busy", path: sorted[0] ?? "" } : { kind: "lost" };
}

/** How often a release is tried over a bad link; a lock that is left behind ends with its session. */
const RELEASES_MAX = 5;

/** Lets them go, and makes sure: a lock left by a process that lives on would keep others waiting for ever. */
export async function releaseObjectLocks(ctx: QueueContext, locks: ObjectLocks): Promise<void> {
  for (let attempt = 0; attempt < RELEASES_MAX; attempt++) {
    const answers = await ctx.session.readMany(locks.paths.map((path) => ({ get: path })));
    if (answers.ok) {
      const ours = locks.paths.filter((_, i) => holdsClaim(answers.value[i], locks.claim));
      if (ours.length === 0) return;
      const gone = await ctx.committer.submit({ rank: "commit", ops: ours.map((path) => deleteOp(path)) });
      if (gone.ok) return;
    }
    if (!(await ctx.session.untilConnected())) return;
  }
}

function holdsClaim(answer: ReadAnswer | undefined, claim: string): boolean {
  const lock = answer?.kind === "node" ? records.lock.decode(answer.node.data) : null;
  return lock?.ok === true && lock.value.claim === claim;
}
