/** The tree's skeleton: made by whoever comes first, found by everyone else. */
import type { Op, Read, ReadAnswer } from "@sluice/zookeeper";
import type { QueueContext } from "./context.ts";
import { createOp } from "./job-ops.ts";
import { DIRECTORIES, paths } from "./paths.ts";
import { records } from "./records.ts";

export type TreeResult =
  { readonly ok: true; readonly fleetId: string } | { readonly ok: false; readonly problem: string };

/**
 * The number of the layout that this version reads and writes. It changes only when versions on either side of the
 * change cannot share a tree; new keys and new nodes do not change it (docs/upgrading.md).
 */
export const LAYOUT = 1;

const TRIES_MAX = 10;
const UNFINISHED = [
  [paths.restoring, "a restore is under way or was broken off", "restore again, replacing what is there"],
  [paths.importing, "an import is under way or was broken off", "run the same import again: it goes on where it was"],
] as const;

/**
 * Makes what is missing and answers with /fleet/id, the random name of this tree's history. Every process remembers
 * it: tokens of another history (a restored snapshot, a wiped disk) must not be used.
 */
export async function ensureTree(ctx: QueueContext): Promise<TreeResult> {
  const obstacle = await obstacleIn(ctx);
  return obstacle === null ? await makeSkeleton(ctx) : { ok: false, problem: obstacle };
}

/** The same without asking whether the tree is finished and of our layout: for whoever is finishing it. */
export async function makeSkeleton(ctx: QueueContext): Promise<TreeResult> {
  const wanted: readonly Op[] = [
    ...DIRECTORIES.map((path) => createOp(path)),
    createOp(paths.layout, records.layout.encode(LAYOUT)),
    createOp(paths.fleetId, records.fleetId.encode(ctx.newId())),
    createOp(paths.fleetIds, records.fleetIds.encode({ batch: 1, job: 1 })),
    createOp(paths.holds, records.counter.encode(0)),
    createOp(paths.space, records.counter.encode(0)),
    createOp(paths.auditHead, records.auditHead.encode({ number: 0, hash: "" })),
  ];
  for (let attempt = 0; attempt < TRIES_MAX; attempt++) {
    const there = await ctx.session.readMany(wanted.map(({ path }): Read => ({ get: path })));
    if (!there.ok) return { ok: false, problem: `${there.code} ${there.detail}` };
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

/** Why nobody may work on this tree; null if there is nothing in the way. */
async function obstacleIn(ctx: Pick<QueueContext, "session">): Promise<string | null> {
  const there = await ctx.session.readMany([paths.layout, ...UNFINISHED.map(([path]) => path)].map((get) => ({ get })));
  if (!there.ok) return `${there.code} ${there.detail}`;
  const [layout, ...markers] = there.value;
  const unfinished = UNFINISHED.find((_, i) => markers[i]?.kind === "node");
  if (unfinished !== undefined) return `${unfinished[1]} (${unfinished[0]}): ${unfinished[2]}`;
  return layoutProblem(layout);
}

/** A tree without the node was made before there was one: its layout is the first. */
function layoutProblem(answer: ReadAnswer | undefined): string | null {
  if (answer?.kind !== "node") return null;
  const layout = records.layout.decode(answer.node.data);
  if (!layout.ok) return `${paths.layout}: ${layout.problem}`;
  if (layout.value === LAYOUT) return null;
  return `the tree has layout ${layout.value}, this program knows ${LAYOUT}: run the version that made it (docs/upgrading.md)`;
}

export async function readFleetId(ctx: Pick<QueueContext, "session">): Promise<TreeResult> {
  const node = await ctx.session.get(paths.fleetId);
  if (!node.ok) return { ok: false, problem: `${paths.fleetId}: ${node.code}` };
  const id = records.fleetId.decode(node.value.data);
  return id.ok ? { ok: true, fleetId: id.value } : id;
}
