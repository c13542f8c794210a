import type { Read, Session } from "@sluice/zookeeper";
import { decodeEntry } from "./entry.ts";
import type { Seen } from "./judge.ts";
import { paths } from "./paths.ts";

export interface ListedWorker extends Seen {
  readonly version: number;
}

/** By name; null: no answer. What cannot be read is left out. */
export async function listWorkers(session: Session): Promise<readonly ListedWorker[] | null> {
  const listed = await session.children(paths.workers);
  if (!listed.ok) return listed.code === "NO_NODE" ? [] : null;
  const names = [...listed.value.names].sort();
  const reads = names.flatMap((name): Read[] => [{ get: paths.worker(name) }, { get: paths.alive(name) }]);
  const answers = await session.readMany(reads);
  if (!answers.ok) return null;
  return names.flatMap((_, at): ListedWorker[] => {
    const node = answers.value[2 * at];
    const entry = node?.kind === "node" ? decodeEntry(node.node.data) : null;
    if (node?.kind !== "node" || entry === null) return [];
    const { mtime, version } = node.node.stat;
    return [{ entry, version, writtenMs: mtime, hasSession: answers.value[2 * at + 1]?.kind === "node" }];
  });
}

/** Whether somebody lives who runs the fleet's own jobs; null: no answer. */
export async function isSystemServed(session: Session): Promise<boolean | null> {
  const workers = await listWorkers(session);
  return (
    workers?.some(({ entry, hasSession }) => hasSession && entry.Status === "ALIVE" && entry.System === true) ?? null
  );
}
