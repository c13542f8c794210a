/**
 * Which blobs the tree names, for who sweeps the store. Names move from a job's record to the entry of its run and from there
 * to the archive, never back; so records are read before entries, and who asks reads the archive after both.
 */
import type { Session } from "@sluice/zookeeper";
import { paths } from "../paths.ts";
import { SHARDS } from "../tenants.ts";

const READ_AT_ONCE = 200;
/** Inside a text of ours it would have backslashes. */
const NAMED = /"sha256":"([0-9a-f]{64})"/g;

/** The sha256 of each; null: not everything could be read. */
export async function blobNamesInTree(session: Session): Promise<ReadonlySet<string> | null> {
  const names = new Set<string>();
  for (let shard = 0; shard < SHARDS; shard++) {
    for (const folder of [paths.jobs(shard), paths.done(shard)]) {
      const directories = await childrenOf(session, folder);
      for (const directory of directories ?? []) if (!(await gather(session, directory, names))) return null;
      if (directories === null) return null;
    }
  }
  return names;
}

async function gather(session: Session, directory: string, names: Set<string>): Promise<boolean> {
  const nodes = await childrenOf(session, directory);
  if (nodes === null) return false;
  for (let from = 0; from < nodes.length; from += READ_AT_ONCE) {
    const read = await session.readMany(nodes.slice(from, from + READ_AT_ONCE).map((path) => ({ get: path })));
    if (!read.ok) return false;
    for (const answer of read.value) {
      // One that has gone since it was listed has moved on, to where we have not read yet.
      if (answer.kind !== "node") continue;
      for (const [, sha256 = ""] of answer.node.data.toString("latin1").matchAll(NAMED)) names.add(sha256);
    }
  }
  return true;
}

/** None of a folder that is not there; null: nobody answers. */
async function childrenOf(session: Session, path: string): Promise<readonly string[] | null> {
  const listed = await session.children(path);
  if (listed.ok) return listed.value.names.map((name) => `${path}/${name}`);
  return listed.code === "NO_NODE" ? [] : null;
}
