/** The tree into a file. */
import { paths, records } from "@sluice/queue-core";
import type { Session } from "@sluice/zookeeper";
import { createHash } from "node:crypto";
import { createWriteStream } from "node:fs";
import { open, rename, rm } from "node:fs/promises";
import { pipeline } from "node:stream/promises";
import { createGzip } from "node:zlib";
import { FORMAT, type Header, nodeLine } from "./format.ts";
import { walk } from "./walk.ts";

export interface SnapshotOptions {
  /** How often to begin again when the tree changed while it was read. Default 5. */
  readonly tries?: number;
  /** Keep one that changed while it was read, marked as such: after its restore fsck must mend what was between. */
  readonly whileMoving?: boolean;
  readonly nowMs: number;
}

export type SnapshotResult =
  | { readonly kind: "taken"; readonly header: Header; readonly nodes: number }
  /** It kept changing: pause the queue, wait until running work has ended, and try again. */
  | { readonly kind: "moving" }
  | { readonly kind: "refused"; readonly why: string }
  | { readonly kind: "lost" };

const TRIES = 5;

/**
 * A pass is exact when nothing in it was touched after the transaction before its first read: then it is the tree as it
 * was at that transaction. The file gets its name when it is whole and on disk.
 */
export async function takeSnapshot(session: Session, file: string, options: SnapshotOptions): Promise<SnapshotResult> {
  const tries = options.tries ?? TRIES;
  const restoring = await session.exists(paths.restoring);
  if (!restoring.ok) return { kind: "lost" };
  if (restoring.value !== null) return { kind: "refused", why: "a restore is under way or was broken off" };
  for (let attempt = 1; attempt <= tries; attempt++) {
    const last = attempt === tries && options.whileMoving === true;
    try {
      const result = await pass(session, file, options.nowMs, last);
      if (result.kind !== "moving") return result;
    } catch (error) {
      await rm(`${file}.partial`, { force: true });
      return { kind: "refused", why: `${file}: ${error instanceof Error ? error.message : String(error)}` };
    }
  }
  return { kind: "moving" };
}

async function pass(session: Session, file: string, nowMs: number, evenIfMoving: boolean): Promise<SnapshotResult> {
  const fleet = await session.get(paths.fleetId);
  if (!fleet.ok) return fleet.code === "NO_NODE" ? { kind: "refused", why: "there is no tree here" } : { kind: "lost" };
  const id = records.fleetId.decode(fleet.value.data);
  if (!id.ok) return { kind: "refused", why: id.problem };
  const barrier = await session.multi([{ op: "check", path: paths.fleetId, version: fleet.value.stat.version }]);
  if (!barrier.ok) return { kind: "lost" };
  const partial = `${file}.partial`;
  const header: Header = {
    sluice: "tree-snapshot",
    format: FORMAT,
    fleet: id.value,
    zxid: barrier.zxid.toString(16),
    consistency: evenIfMoving ? "moving" : "exact",
    at: new Date(nowMs).toISOString(),
  };
  const written = await writeNodes(session, partial, header, evenIfMoving ? null : barrier.zxid);
  if (typeof written === "string") {
    await rm(partial, { force: true });
    return { kind: written };
  }
  await sync(partial);
  await rename(partial, file);
  return { kind: "taken", header, nodes: written };
}

/** The number of nodes; `exactAt` null = whatever it meets. Throws what the disk says. */
async function writeNodes(
  session: Session,
  partial: string,
  header: Header,
  exactAt: bigint | null,
): Promise<number | "moving" | "lost"> {
  const hash = createHash("sha256");
  let [nodes, bytes] = [0, 0];
  const met: { trouble: "moving" | "lost" | null } = { trouble: null };
  const counted = (line: string): string => {
    const data = `${line}\n`;
    hash.update(data);
    bytes += Buffer.byteLength(data);
    return data;
  };
  async function* lines(): AsyncGenerator<string> {
    yield counted(JSON.stringify(header));
    for await (const page of walk(session)) {
      if (page === null) met.trouble = "lost";
      else if (exactAt !== null && (page.moved || page.newest > exactAt)) met.trouble = "moving";
      if (page === null || met.trouble !== null) return;
      nodes += page.nodes.length;
      yield page.nodes.map((node) => counted(nodeLine(node))).join("");
    }
    yield `${JSON.stringify({ nodes, bytes, sha256: hash.digest("hex") })}\n`;
  }
  await pipeline(lines, createGzip(), createWriteStream(partial, { mode: 0o600 }));
  return met.trouble ?? nodes;
}

async function sync(file: string): Promise<void> {
  const handle = await open(file, "r");
  await handle.sync();
  await handle.close();
}
