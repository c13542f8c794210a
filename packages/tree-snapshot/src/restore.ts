/**
 * A file into the tree. While it is written /fleet/restoring stands there, and every service refuses to start; the last
 * transaction takes it away, makes a new epoch of the same fleet and an audit record. Broken off anywhere, it is begun
 * again.
 */
import { paths as queuePaths } from "@sluice/job-queue";
import {
  act,
  FIRST_EPOCH,
  type FleetIdentity,
  nextEpoch,
  type Operator,
  paths,
  type QueueContext,
  records,
} from "@sluice/queue-core";
import { isOpen, MAX_REQUEST_BYTES, type Session } from "@sluice/zookeeper";
import { describeAtWork, whoIsAtWork } from "./at-work.ts";
import { type Header, readSnapshot, type SnapshotNode } from "./format.ts";
import { type RedoneCounts, RedoneNodes, type WrittenNodes } from "./redone-nodes.ts";
import { lookAtReplaced, markerData, type Replaced } from "./replaced.ts";
import { restoredNode } from "./restored-nodes.ts";
import { ShardMarks } from "./shard-marks.ts";
import { walk } from "./walk.ts";
import { Writer } from "./writer.ts";

export interface RestoreOptions {
  /** Take away what is there. */
  readonly replace?: boolean;
  /** Also if what is there belongs to another fleet than the snapshot. */
  readonly anotherFleet?: boolean;
  /** What the job queue wrote behind the snapshot. `none`: it is to be as it was then. It must be said where there is one. */
  readonly redo?: ((from: RedoFrom) => Promise<Redo>) | "none" | undefined;
}

export type Redo =
  /** Of each shard. */
  { readonly ok: true; readonly shards: readonly WrittenNodes[] } | { readonly ok: false; readonly why: string };

/** Where the snapshot ends. */
export interface RedoFrom {
  readonly fleet: string;
  readonly epoch: number;
  readonly zxid: bigint;
}

export type RestoreResult =
  | {
      readonly kind: "restored";
      readonly header: Header;
      readonly nodes: number;
      readonly identity: FleetIdentity;
      readonly redone: RedoneCounts;
    }
  /** Nothing has been written. */
  | { readonly kind: "refused"; readonly why: string }
  /** Something has: services will not start on it. Restore again, replacing what is there. */
  | { readonly kind: "broken-off"; readonly why: string };

export async function restoreSnapshot(
  ctx: QueueContext,
  operator: Operator,
  file: string,
  options: RestoreOptions = {},
): Promise<RestoreResult> {
  const checked = await checkFile(file);
  if ("why" in checked) return { kind: "refused", why: checked.why };
  const obstacle = await obstacleTo(ctx, options.replace === true);
  if (obstacle !== null) return { kind: "refused", why: obstacle };
  const looked = await lookAtReplaced(ctx.session);
  if (!looked.ok) return { kind: "refused", why: looked.why };
  const { replaced } = looked;
  const foreign = options.anotherFleet === true ? null : foreignProblem(checked.fleet, replaced);
  if (foreign !== null) return { kind: "refused", why: foreign };
  const redo = await redoFor(checked, options.redo);
  if (!redo.ok) return { kind: "refused", why: redo.why };
  const redone = new RedoneNodes(redo.shards);
  const began = await begin(ctx, checked.header, replaced);
  if (began !== null) return { kind: "refused", why: began };
  const writer = new Writer(ctx.session);
  const epoch = nextEpoch(Math.max(checked.epoch, replaced.identity?.epoch ?? 0), ctx.clock.nowMs());
  const marks = new ShardMarks(checked.header);
  const trouble = (await wipe(ctx, writer)) ?? (await writeAll(file, writer, { replaced, redone, marks, epoch }));
  if (trouble !== null) return { kind: "broken-off", why: trouble };
  const identity: FleetIdentity = { fleet: checked.fleet, epoch, history: ctx.newId() };
  const unfinished = await finish(ctx, operator, checked.header, identity);
  if (unfinished !== null) return { kind: "broken-off", why: unfinished };
  return { kind: "restored", header: checked.header, nodes: checked.nodes, identity, redone: redone.counts };
}

/** From here on services start, on a tree that is whole. */
async function finish(
  ctx: QueueContext,
  operator: Operator,
  { fleet, zxid }: Header,
  identity: FleetIdentity,
): Promise<string | null> {
  const marker = await ctx.session.get(paths.restoring);
  if (!marker.ok) return `${paths.restoring}: ${marker.code}`;
  const epoch = records.fleetEpoch.encode({ fleet: identity.fleet, epoch: identity.epoch });
  const finished = await act(ctx, operator, `tree.restore of ${fleet}`, zxid, () =>
    Promise.resolve({
      kind: "go",
      ops: [
        { op: "create", path: paths.fleetId, data: records.fleetId.encode(identity.history) },
        { op: "create", path: paths.fleetEpoch, data: epoch },
        { op: "delete", path: paths.restoring, version: marker.value.stat.version },
      ],
    }),
  );
  if (finished.kind === "applied") return null;
  return "why" in finished ? finished.why : finished.kind;
}

interface Checked {
  readonly header: Header;
  readonly nodes: number;
  /** As the tree in the file says it; before there were epochs, its history's name and the first one. */
  readonly fleet: string;
  readonly epoch: number;
  readonly hasJobQueue: boolean;
}

/** A node beside its path, and what else a request holds. */
const NODE_BYTES_MAX = MAX_REQUEST_BYTES - 4 * 1024;

/** The whole file is read before the first write. */
async function checkFile(file: string): Promise<Checked | { readonly why: string }> {
  let header: Header | null = null;
  let [hasAudit, hasJobQueue] = [false, false];
  let known = { fleet: "", epoch: FIRST_EPOCH };
  for await (const item of readSnapshot(file)) {
    if (item.kind === "broken") return { why: `${file}: ${item.why}` };
    if (item.kind === "header") [header, known] = [item.header, { ...known, fleet: item.header.fleet }];
    if (item.kind === "node") {
      const { path, data } = item.node;
      hasAudit ||= path === paths.auditHead;
      hasJobQueue ||= path === queuePaths.layout;
      if (data.length > NODE_BYTES_MAX)
        return { why: `${file}: ${path} is too large to be written: ${data.length} bytes` };
      const epoch = path === paths.fleetEpoch ? records.fleetEpoch.decode(data) : null;
      if (epoch?.ok === false) return { why: `${file}: ${path}: ${epoch.problem}` };
      if (epoch !== null) known = epoch.value;
    }
    if (item.kind === "whole" && header !== null) {
      const { fleet, epoch } = known;
      if (!hasAudit) return { why: `${file}: it holds no audit: not a whole tree` };
      return { header, nodes: item.footer.nodes, fleet, epoch, hasJobQueue };
    }
  }
  return { why: `${file}: it is empty` };
}

/** Old tokens must not meet new owners: nobody may be at work. */
async function obstacleTo({ session }: QueueContext, replace: boolean): Promise<string | null> {
  const root = await session.children("/");
  if (!root.ok) return `ZooKeeper does not answer: ${root.code}`;
  const atWork = await whoIsAtWork(session);
  if (atWork === null) return "ZooKeeper does not answer";
  if (atWork.length > 0) return describeAtWork(atWork);
  const there = root.value.names.filter((name) => name !== "zookeeper");
  return there.length === 0 || replace ? null : `the tree is not empty: it holds ${there.sort().join(", ")}`;
}

function foreignProblem(fleet: string, { identity }: Replaced): string | null {
  if (identity === null || identity.fleet === fleet) return null;
  return `the tree there belongs to fleet ${identity.fleet}, the snapshot to fleet ${fleet}`;
}

async function begin(ctx: QueueContext, header: Header, replaced: Replaced): Promise<string | null> {
  const there = await ctx.session.readMany([{ get: paths.fleet }, { get: paths.restoring }]);
  if (!there.ok) return `ZooKeeper does not answer: ${there.code}`;
  const [fleet, marker] = there.value;
  if (marker?.kind === "node") return null;
  const made = await ctx.session.multi([
    ...(fleet?.kind === "node" ? [] : [{ op: "create", path: paths.fleet, data: Buffer.alloc(0) } as const]),
    { op: "create", path: paths.restoring, data: markerData(header, replaced) },
  ]);
  return made.ok ? null : `${made.code} ${made.detail}`;
}

/** Ours stay until the end. */
const KEPT = new Set<string>([paths.fleet, paths.restoring]);

/** What is there goes, children before parents; what came into being since it was listed stops us. */
async function wipe(ctx: QueueContext, writer: Writer): Promise<string | null> {
  const closed = await openAudit(ctx.session);
  if (closed !== null) return closed;
  const all: { path: string; version: number }[] = [];
  for await (const page of walk(ctx.session)) {
    if (page === null) return "ZooKeeper does not answer";
    for (const each of page.versions) if (!KEPT.has(each.path)) all.push(each);
  }
  for (const { path, version } of all.reverse()) {
    const trouble = await writer.add({ op: "delete", path, version }, 0);
    if (trouble !== null) return trouble;
  }
  return await writer.flush();
}

/** Where nodes have owners the audit can only grow. To be replaced it must be opened first, which only its owner can. */
async function openAudit(session: Session): Promise<string | null> {
  if (isOpen(session.aclOf("/"))) return null;
  for (const path of [paths.audit, paths.auditRecords]) {
    const acl = await session.getAcl(path);
    if (!acl.ok && acl.code === "NO_NODE") continue;
    const opened = acl.ok ? await session.setAcl(path, session.aclOf("/"), acl.value.version) : acl;
    if (!opened.ok) return `${opened.code} ${opened.detail}`;
  }
  return null;
}

const NO_REDO: Redo = { ok: true, shards: [] };

async function redoFor(checked: Checked, redo: RestoreOptions["redo"]): Promise<Redo> {
  if (redo === "none" || !checked.hasJobQueue) return NO_REDO;
  if (redo === undefined)
    return { ok: false, why: "the snapshot holds a job queue, and nobody has said whether it is to go on behind it" };
  return redo(endOf(checked));
}

const endOf = ({ fleet, epoch, header }: Checked): RedoFrom => ({ fleet, epoch, zxid: BigInt(`0x${header.zxid}`) });

interface Written {
  readonly replaced: Replaced;
  readonly redone: RedoneNodes;
  readonly marks: ShardMarks;
  readonly epoch: number;
}

async function writeAll(file: string, writer: Writer, written: Written): Promise<string | null> {
  const { redone, marks, epoch } = written;
  for await (const item of readSnapshot(file)) {
    if (item.kind === "broken") return item.why;
    const node = item.kind === "node" ? redone.take(item.node) : null;
    const trouble = node === null ? null : await writeNode(node, writer, written);
    if (trouble !== null) return trouble;
  }
  for (const node of redone.rest()) {
    const trouble = await writeNode(node, writer, written);
    if (trouble !== null) return trouble;
  }
  for (const op of marks.ops(epoch)) {
    const trouble = await writer.add(op, 0);
    if (trouble !== null) return trouble;
  }
  return await writer.flush();
}

async function writeNode(node: SnapshotNode, writer: Writer, { replaced, marks }: Written): Promise<string | null> {
  const restored = restoredNode(node, replaced);
  if (restored.kind === "unreadable") return restored.why;
  const unreadable = marks.take(restored.kind === "write" ? restored.node : node);
  if (unreadable !== null || restored.kind === "leave") return unreadable;
  const { path, data } = restored.node;
  return await writer.add({ op: "create", path, data }, data.length);
}
