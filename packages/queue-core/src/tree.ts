/**
 * The tree's skeleton. Only an explicit command makes a new one (`initTree`): a service that met an empty ZooKeeper and
 * made a tree would number from 1 again, over deposits that a restore is about to bring back.
 */
import type { Op, Read, ReadAnswer } from "@sluice/zookeeper";
import type { QueueContext } from "./context.ts";
import { type FleetIdentity, FIRST_EPOCH, nextEpoch, readIdentity } from "./fleet-identity.ts";
import { createOp } from "./job-ops.ts";
import { DIRECTORIES, paths } from "./paths.ts";
import { records } from "./records.ts";

export type TreeResult =
  | { readonly ok: true; readonly identity: FleetIdentity }
  /** `absent`: there is no tree of ours; only a command makes one. */
  | { readonly ok: false; readonly absent: boolean; readonly problem: string };

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

/** For services: the tree as it is. What a newer version adds to the skeleton of a tree is made; a tree never is. */
export async function openTree(ctx: QueueContext): Promise<TreeResult> {
  const obstacle = await obstacleIn(ctx);
  if (obstacle !== null) return { ok: false, absent: false, problem: obstacle };
  const found = await readIdentity(ctx);
  if (found.ok) return await makeSkeleton(ctx);
  if (!found.absent) return found;
  const root = await ctx.session.children("/");
  if (!root.ok) return { ok: false, absent: false, problem: `${root.code} ${root.detail}` };
  return { ok: false, absent: true, problem: absence(root.value.names) };
}

/** For `sluice init` and whoever stands in for it: makes the tree, or finds the one that is there. */
export async function initTree(ctx: QueueContext): Promise<TreeResult> {
  const obstacle = await obstacleIn(ctx);
  if (obstacle !== null) return { ok: false, absent: false, problem: obstacle };
  const found = await readIdentity(ctx);
  if (!found.ok && found.absent) {
    const root = await ctx.session.children("/");
    if (!root.ok) return { ok: false, absent: false, problem: `${root.code} ${root.detail}` };
    if (isForeign(root.value.names)) return { ok: false, absent: true, problem: absence(root.value.names) };
  }
  return await makeSkeleton(ctx);
}

/** The same without asking whether the tree is finished and of our layout: for whoever is finishing it. */
export async function makeSkeleton(ctx: QueueContext): Promise<TreeResult> {
  for (let attempt = 0; attempt < TRIES_MAX; attempt++) {
    const wanted = await wantedNodes(ctx);
    if (!wanted.ok) return { ok: false, absent: false, problem: wanted.problem };
    const there = await ctx.session.readMany(wanted.ops.map(({ path }): Read => ({ get: path })));
    if (!there.ok) return { ok: false, absent: false, problem: `${there.code} ${there.detail}` };
    const missing = wanted.ops.filter((_, i) => there.value[i]?.kind !== "node");
    if (missing.length === 0) return await readIdentity(ctx);
    const made = await ctx.committer.submit({ rank: "operator", ops: missing });
    // Another process was faster with one of them: look again. A lost answer is no different.
    if (!made.ok && made.code !== "NODE_EXISTS" && made.code !== "UNKNOWN") {
      return { ok: false, absent: false, problem: `${made.code} ${made.detail}` };
    }
  }
  return { ok: false, absent: false, problem: `the tree was not complete after ${TRIES_MAX} tries` };
}

type WantedNodes =
  { readonly ok: true; readonly ops: readonly Op[] } | { readonly ok: false; readonly problem: string };

async function wantedNodes(ctx: QueueContext): Promise<WantedNodes> {
  const known = await readIdentity(ctx);
  if (!known.ok && !known.absent) return known;
  const history = known.ok ? known.identity.history : ctx.newId();
  // A tree from before there were epochs gets its first one; its fleet has the name of its history.
  const epoch = known.ok
    ? { fleet: known.identity.fleet, epoch: known.identity.epoch }
    : { fleet: history, epoch: nextEpoch(FIRST_EPOCH, ctx.clock.nowMs()) };
  const ops = [
    ...DIRECTORIES.map((path) => createOp(path)),
    createOp(paths.layout, records.layout.encode(LAYOUT)),
    createOp(paths.fleetId, records.fleetId.encode(history)),
    createOp(paths.fleetEpoch, records.fleetEpoch.encode(epoch)),
    createOp(paths.fleetIds, records.fleetIds.encode({ batch: 1, job: 1 })),
    createOp(paths.holds, records.counter.encode(0)),
    createOp(paths.space, records.counter.encode(0)),
    createOp(paths.auditHead, records.auditHead.encode({ number: 0, hash: "" })),
  ];
  return { ok: true, ops };
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

/** Merritt's directories: a tree that has them and no /fleet is Merritt's own. */
const MERRITTS: readonly string[] = ["jobs", "batches", "batch-uuids"];

const isForeign = (names: readonly string[]): boolean => names.some((name) => MERRITTS.includes(name));

function absence(names: readonly string[]): string {
  return isForeign(names)
    ? "there are jobs or batches here, but no /fleet: bring them in with `sluice import`"
    : "ZooKeeper holds no fleet. A new installation: run `sluice init`. After a loss: run `sluice restore`";
}
