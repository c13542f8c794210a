/** Entries of the archive as they stand in the tree: one node, and nodes below it for what is large. */
import type { Op, ReadAnswer, Session } from "@sluice/zookeeper";
import { INLINE_DATA_BYTES, INLINE_RESULT_BYTES } from "../limits.ts";
import { paths } from "../paths.ts";
import { type Done, records } from "../records.ts";
import type { EndedRun } from "../run-archive.ts";
import type { DoneName } from "./done-index.ts";

const LEAVES = ["r", "d"] as const;

export const pathOf = (shard: number, { directory, id, token }: DoneName): string =>
  paths.doneEntry(shard, directory, id, token);

export function doneOps(shard: number, name: DoneName, done: Done): readonly Op[] {
  const { directory, id, token } = name;
  const { result, job } = done;
  const path = pathOf(shard, name);
  const large = result !== undefined && Buffer.byteLength(result) > INLINE_RESULT_BYTES ? result : null;
  const data = job?.data !== undefined && Buffer.byteLength(job.data) > INLINE_DATA_BYTES ? job.data : null;
  if (large === null && data === null) return [{ op: "create", path, data: records.done.encode(done) }];
  const entry: Done = {
    ...done,
    result: large === null ? result : undefined,
    job: data === null ? job : job && { ...job, data: undefined },
  };
  const ops: Op[] = [{ op: "create", path, data: records.done.encode(entry) }];
  if (large !== null)
    ops.push({ op: "create", path: paths.doneResult(shard, directory, id, token), data: Buffer.from(large) });
  if (data !== null)
    ops.push({ op: "create", path: paths.doneData(shard, directory, id, token), data: Buffer.from(data) });
  return ops;
}

export interface ReadRun {
  readonly run: EndedRun;
  /** What must go with it, children first. */
  readonly nodes: readonly string[];
}

/** "missing": it has left the tree; "unreadable": what stands there is no entry of ours. */
export type Reading = ReadRun | "missing" | "unreadable";

/** In the order of the names. "silence": nobody answers. */
export async function readRuns(
  session: Session,
  shard: number,
  names: readonly DoneName[],
  how: "whole" | "short",
): Promise<readonly Reading[] | "silence"> {
  const leaves = how === "whole" ? LEAVES : [];
  const reads = names.flatMap((name) => {
    const path = pathOf(shard, name);
    return [{ get: path }, ...leaves.map((leaf) => ({ get: `${path}/${leaf}` }))];
  });
  if (reads.length === 0) return [];
  const answer = await session.readMany(reads);
  if (!answer.ok) return "silence";
  const width = 1 + leaves.length;
  return names.map((name, n) => {
    const [entry, result, data] = answer.value.slice(n * width, (n + 1) * width);
    if (entry?.kind !== "node") return "missing";
    const done = records.done.decode(entry.node.data);
    if (!done.ok) return "unreadable";
    const path = pathOf(shard, name);
    const below = leaves.filter((_, m) => [result, data][m]?.kind === "node").map((leaf) => `${path}/${leaf}`);
    const { id, token } = name;
    return { run: { id, token, done: joined(done.value, result, data) }, nodes: [...below, path] };
  });
}

function joined(done: Done, result: ReadAnswer | undefined, data: ReadAnswer | undefined): Done {
  const text = (answer: ReadAnswer | undefined): string | null =>
    answer?.kind === "node" ? answer.node.data.toString("utf8") : null;
  const [whole, large] = [text(result), text(data)];
  return {
    ...done,
    ...(whole === null ? {} : { result: whole }),
    ...(large === null || done.job === undefined ? {} : { job: { ...done.job, data: large } }),
  };
}
