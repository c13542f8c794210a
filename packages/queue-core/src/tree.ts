/**
 * The tree's skeleton. Only an explicit command makes a new one (`initTree`): a service that met an empty ZooKeeper and
 * made a tree would number from 1 again, over deposits that a restore is about to bring back.
 */
import type { Op, Read, ReadAnswer } from "@sluice/zookeeper";
import type { QueueContext } from "./context.ts";
import { type FleetIdentity, FIRST_EPOCH, type IdentityResult, nextEpoch, readIdentity } from "./fleet-identity.ts";
import { createOp } from "./job-ops.ts";
import { DIRECTORIES, paths } from "./paths.ts";
import { records } from "./records.ts";

/** Why nobody works on what is there. */
export type TreeObstacle =
  /** Nobody has made a tree here, or it is gone; only a command makes one. */
  | "absent"
  /** Merritt's own queue, which was never brought in. */
  | "merritt"
  /** A restore or an import is under way, or was broken off. */
  | "unfinished"
  /** Of a version that cannot share it with this one. */
  | "layout"
  | "unreadable"
  /** ZooKeeper does not answer. */
  | "silence";

export type TreeResult =
  | { readonly ok: true; readonly identity: FleetIdentity }
  | { readonly ok: false; readonly why: TreeObstacle; readonly problem: string };

type Refused = Extract<TreeResult, { readonly ok: false }>;

const silence = ({ code, detail }: { readonly code: string; readonly detail: string }): Refused => ({
  ok: false,
  why: "silence",
  problem: `${code} ${detail}`,
});

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
  return (await obstacleIn(ctx)) ?? (await completed(ctx, "complete"));
}

/** For `sluice init` and whoever stands in for it: makes the tree, or finds the one that is there. */
export async function initTree(ctx: QueueContext): Promise<TreeResult> {
  const opened = await openTree(ctx);
  return opened.ok || opened.why !== "absent" ? opened : await makeSkeleton(ctx);
}

/** The same without asking whether the tree is finished and of our layout: for whoever is finishing it. */
export const makeSkeleton = (ctx: QueueContext): Promise<TreeResult> => completed(ctx, "make");

async function completed(ctx: QueueContext, may: "make" | "complete"): Promise<TreeResult> {
  for (let attempt = 0; attempt < TRIES_MAX; attempt++) {
    const known = await readIdentity(ctx);
    if (!known.ok && (known.why !== "absent" || may === "complete"))
      return known.why === "absent" ? await absence(ctx) : known;
    const wanted = wantedNodes(ctx, known.ok ? known.identity : null);
    const there = await ctx.session.readMany(wanted.map(({ path }): Read => ({ get: path })));
    if (!there.ok) return silence(there);
    const missing = wanted.filter((_, i) => there.value[i]?.kind !== "node");
    if (missing.length === 0) return await readIdentity(ctx);
    const made = await ctx.committer.submit({ rank: "operator", ops: [...sameTree(known), ...missing] });
    // Another process was faster with one of them, or the tree is going: look again. A lost answer is no different.
    if (!made.ok && made.code !== "NODE_EXISTS" && made.code !== "NO_NODE" && made.code !== "UNKNOWN")
      return silence(made);
  }
  return { ok: false, why: "silence", problem: `the tree was not complete after ${TRIES_MAX} tries` };
}

/** A restore that takes the tree away meanwhile must not find new nodes of ours in its place. */
const sameTree = (known: IdentityResult): readonly Op[] => (known.ok ? [{ op: "check", path: paths.fleetId }] : []);

function wantedNodes({ newId, clock }: QueueContext, known: FleetIdentity | null): readonly Op[] {
  const history = known?.history ?? newId();
  // A tree from before there were epochs gets its first one; its fleet has the name of its history.
  const epoch =
    known === null
      ? { fleet: history, epoch: nextEpoch(FIRST_EPOCH, clock.nowMs()) }
      : { fleet: known.fleet, epoch: known.epoch };
  return [
    ...DIRECTORIES.map((path) => createOp(path)),
    createOp(paths.layout, records.layout.encode(LAYOUT)),
    createOp(paths.fleetId, records.fleetId.encode(history)),
    createOp(paths.fleetEpoch, records.fleetEpoch.encode(epoch)),
    createOp(paths.fleetIds, records.fleetIds.encode({ batch: 1, job: 1 })),
    createOp(paths.holds, records.counter.encode(0)),
    createOp(paths.space, records.counter.encode(0)),
    createOp(paths.auditHead, records.auditHead.encode({ number: 0, hash: "" })),
  ];
}

/** What is in the way, before anything is asked of the tree; null if there is nothing. */
async function obstacleIn(ctx: Pick<QueueContext, "session">): Promise<Refused | null> {
  const there = await ctx.session.readMany([paths.layout, ...UNFINISHED.map(([path]) => path)].map((get) => ({ get })));
  if (!there.ok) return silence(there);
  const [layout, ...markers] = there.value;
  const unfinished = UNFINISHED.find((_, i) => markers[i]?.kind === "node");
  if (unfinished === undefined) return layoutObstacle(layout);
  const [path, what, remedy] = unfinished;
  return { ok: false, why: "unfinished", problem: `${what} (${path}): ${remedy}` };
}

/** A tree without the node was made before there was one: its layout is the first. */
function layoutObstacle(answer: ReadAnswer | undefined): Refused | null {
  if (answer?.kind !== "node") return null;
  const layout = records.layout.decode(answer.node.data);
  if (!layout.ok) return { ok: false, why: "unreadable", problem: `${paths.layout}: ${layout.problem}` };
  if (layout.value === LAYOUT) return null;
  const problem = `the tree has layout ${layout.value}, this program knows ${LAYOUT}: run the version that made it (docs/upgrading.md)`;
  return { ok: false, why: "layout", problem };
}

/** Merritt's directories: a tree that has them and no /fleet is Merritt's own. */
const MERRITTS: readonly string[] = ["jobs", "batches", "batch-uuids"];

const FLEET = paths.fleet.slice(1);

async function absence({ session }: Pick<QueueContext, "session">): Promise<Refused> {
  const root = await session.children("/");
  if (!root.ok) return silence(root);
  const { names } = root.value;
  if (names.some((name) => MERRITTS.includes(name))) {
    if (names.includes(FLEET)) {
      const problem = `there are jobs or batches here, but no ${paths.fleetId}: the tree is damaged. Run \`sluice restore --replace\``;
      return { ok: false, why: "unreadable", problem };
    }
    const problem = "there are jobs or batches here, but no /fleet: bring them in with `sluice import`";
    return { ok: false, why: "merritt", problem };
  }
  const problem = "ZooKeeper holds no fleet. A new installation: run `sluice init`. After a loss: run `sluice restore`";
  return { ok: false, why: "absent", problem };
}
