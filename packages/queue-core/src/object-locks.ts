/**
 * One object at a time: ephemeral locks under /locks/storage, /locks/inventory and /locks/localid, in CDL's names.
 * Several are taken in sorted order, all or none, in one multi; busy is an answer, waiting is the caller's business.
 */
import type { Op } from "@sluice/zookeeper";
import type { Actor, QueueContext } from "./context.ts";
import { letGo } from "./let-go.ts";
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
  /** ZooKeeper will not have it, now or later: waiting does not help. */
  | { readonly kind: "refused"; readonly detail: string }
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
  if (sent.kind === "refused") return { kind: "refused", detail: `${sent.fault.code} ${sent.fault.detail}` };
  return sent.kind === "not-applied" ? { kind: "busy", path: sorted[0] ?? "" } : { kind: "lost" };
}

export const releaseObjectLocks = (ctx: QueueContext, locks: ObjectLocks): Promise<void> =>
  letGo(ctx, locks.paths, locks.claim, null);
