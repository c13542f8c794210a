/**
 * A file into the tree. While it is written /fleet/restoring stands there, and every service refuses to start; the last
 * transaction takes it away, writes a new /fleet/id and an audit record. Broken off anywhere, it is begun again.
 */
import { act, type Operator, paths, type QueueContext, records } from "@sluice/queue-core";
import { isOpen, type Op, type Session } from "@sluice/zookeeper";
import { type Header, readSnapshot } from "./format.ts";
import { walk } from "./walk.ts";

export interface RestoreOptions {
  /** Take away what is there. */
  readonly replace?: boolean;
}

export type RestoreResult =
  | { readonly kind: "restored"; readonly header: Header; readonly nodes: number; readonly fleetId: string }
  /** Nothing has been written. */
  | { readonly kind: "refused"; readonly why: string }
  /** Something has: services will not start on it. Restore again, replacing what is there. */
  | { readonly kind: "broken-off"; readonly why: string };

const OPS_MAX = 100;
const BYTES_MAX = 128 * 1024;

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
  const writer = new Writer(ctx);
  const began = await begin(ctx, checked.header);
  if (began !== null) return { kind: "refused", why: began };
  const trouble = (await wipe(ctx, writer)) ?? (await writeAll(file, writer));
  if (trouble !== null) return { kind: "broken-off", why: trouble };
  const fleetId = ctx.newId();
  const marker = await ctx.session.get(paths.restoring);
  if (!marker.ok) return { kind: "broken-off", why: `${paths.restoring}: ${marker.code}` };
  const finish = await act(ctx, operator, `tree.restore of ${checked.header.fleet}`, checked.header.zxid, () =>
    Promise.resolve({
      kind: "go",
      ops: [
        { op: "create", path: paths.fleetId, data: records.fleetId.encode(fleetId) },
        { op: "delete", path: paths.restoring, version: marker.value.stat.version },
      ],
    }),
  );
  if (finish.kind !== "applied") return { kind: "broken-off", why: "why" in finish ? finish.why : finish.kind };
  return { kind: "restored", header: checked.header, nodes: checked.nodes, fleetId };
}

/** The whole file is read before the first write. */
async function checkFile(file: string): Promise<{ header: Header; nodes: number } | { why: string }> {
  let header: Header | null = null;
  let hasAudit = false;
  for await (const item of readSnapshot(file)) {
    if (item.kind === "broken") return { why: `${file}: ${item.why}` };
    if (item.kind === "header") header = item.header;
    if (item.kind === "node") hasAudit ||= item.node.path === paths.auditHead;
    if (item.kind === "whole" && header !== null) {
      return hasAudit ? { header, nodes: item.footer.nodes } : { why: `${file}: it holds no audit: not a whole tree` };
    }
  }
  return { why: `${file}: it is empty` };
}

/** Old tokens must not meet new owners: nobody may be at work. */
async function obstacleTo(ctx: QueueContext, replace: boolean): Promise<string | null> {
  const root = await ctx.session.children("/");
  if (!root.ok) return `ZooKeeper does not answer: ${root.code}`;
  const stages = await ctx.session.children(paths.workers);
  if (!stages.ok && stages.code !== "NO_NODE") return `ZooKeeper does not answer: ${stages.code}`;
  for (const stage of stages.ok ? stages.value.names : []) {
    const workers = await ctx.session.children(paths.stageWorkers(stage));
    if (!workers.ok && workers.code !== "NO_NODE") return `ZooKeeper does not answer: ${workers.code}`;
    if (workers.ok && workers.value.names.length > 0) return `${stage} is at work: ${workers.value.names.join(", ")}`;
  }
  const there = root.value.names.filter((name) => name !== "zookeeper");
  return there.length === 0 || replace ? null : `the tree is not empty: it holds ${there.sort().join(", ")}`;
}

async function begin(ctx: QueueContext, header: Header): Promise<string | null> {
  const there = await ctx.session.readMany([{ get: paths.fleet }, { get: paths.restoring }]);
  if (!there.ok) return `ZooKeeper does not answer: ${there.code}`;
  const [fleet, marker] = there.value;
  if (marker?.kind === "node") return null;
  const data = Buffer.from(JSON.stringify({ fleet: header.fleet, zxid: header.zxid, at: header.at }));
  const made = await ctx.session.multi([
    ...(fleet?.kind === "node" ? [] : [{ op: "create", path: paths.fleet, data: Buffer.alloc(0) } as const]),
    { op: "create", path: paths.restoring, data },
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

async function writeAll(file: string, writer: Writer): Promise<string | null> {
  for await (const item of readSnapshot(file)) {
    if (item.kind === "broken") return item.why;
    if (item.kind !== "node" || KEPT.has(item.node.path) || item.node.path === paths.fleetId) continue;
    const { path, data } = item.node;
    const trouble = await writer.add({ op: "create", path, data }, data.length);
    if (trouble !== null) return trouble;
  }
  return await writer.flush();
}

/** Multis of bounded size, one after the other. A lost answer ends it: begun again, it is the same. */
class Writer {
  readonly #ctx: QueueContext;
  #ops: Op[] = [];
  #bytes = 0;

  constructor(ctx: QueueContext) {
    this.#ctx = ctx;
  }

  async add(op: Op, bytes: number): Promise<string | null> {
    this.#ops.push(op);
    this.#bytes += bytes + op.path.length;
    return this.#ops.length >= OPS_MAX || this.#bytes >= BYTES_MAX ? await this.flush() : null;
  }

  async flush(): Promise<string | null> {
    if (this.#ops.length === 0) return null;
    const answer = await this.#ctx.session.multi(this.#ops);
    this.#ops = [];
    this.#bytes = 0;
    return answer.ok ? null : `${answer.code} ${answer.detail}`;
  }
}
