/** The tree's skeleton: made by whoever comes first, found by everyone else. */
import type { Op, Read } from "@sluice/zookeeper";
import type { QueueContext } from "./context.ts";
import { createOp } from "./job-ops.ts";
import { DIRECTORIES, paths } from "./paths.ts";
import { records } from "./records.ts";

export type TreeResult =
  { readonly ok: true; readonly fleetId: string } | { readonly ok: false; readonly problem: string };

const TRIES_MAX = 10;
const HALF_RESTORED = `a restore is under way or was broken off (${paths.restoring}): restore again, replacing what is there`;

/**
 * Makes what is missing and answers with /fleet/id, the random name of this tree's history. Every process remembers
 * it: tokens of another history (a restored snapshot, a wiped disk) must not be used.
 */
export async function ensureTree(ctx: QueueContext): Promise<TreeResult> {
  const wanted: readonly Op[] = [
    ...DIRECTORIES.map((path) => createOp(path)),
    createOp(paths.fleetId, records.fleetId.encode(ctx.newId())),
    createOp(paths.fleetIds, records.fleetIds.encode({ batch: 1, job: 1 })),
    createOp(paths.holds, records.counter.encode(0)),
    createOp(paths.space, records.counter.encode(0)),
    createOp(paths.auditHead, records.auditHead.encode({ number: 0, hash: "" })),
  ];
  for (let attempt = 0; attempt < TRIES_MAX; attempt++) {
    const there = await ctx.session.readMany(
      [...wanted, { path: paths.restoring }].map(({ path }): Read => ({ get: path })),
    );
    if (!there.ok) return { ok: false, problem: `${there.code} ${there.detail}` };
    if (there.value.at(-1)?.kind === "node") return { ok: false, problem: HALF_RESTORED };
    const missing = wanted.filter((_, i) => there.value[i]?.kind !== "node");
    if (missing.length === 0) return await readFleetId(ctx);
    const made = await ctx.committer.submit({ rank: "operator", ops: missing });
    // Another process was faster with one of them: look again. A lost answer is no different.
    if (!made.ok && made.code !== "NODE_EXISTS" && made.code !== "UNKNOWN") {
      return { ok: false, problem: `${made.code} ${made.detail}` };
    }
  }
  return { ok: false, problem: `the tree was not complete after ${TRIES_MAX} tries` };
}

export async function readFleetId(ctx: Pick<QueueContext, "session">): Promise<TreeResult> {
  const node = await ctx.session.get(paths.fleetId);
  if (!node.ok) return { ok: false, problem: `${paths.fleetId}: ${node.code}` };
  const id = records.fleetId.decode(node.value.data);
  return id.ok ? { ok: true, fleetId: id.value } : id;
}
