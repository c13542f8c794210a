/** The whole tree, page by page, parents before children, without what belongs to sessions. */
import type { Read, Session, Stat } from "@sluice/zookeeper";
import type { SnapshotNode } from "./format.ts";

const PAGE = 200;
/** Workers come and go without the queue's changing. */
const SESSIONS_OWN = /^\/fleet\/workers(\/|$)/;

export interface WalkedPage {
  readonly nodes: readonly SnapshotNode[];
  readonly versions: readonly { readonly path: string; readonly version: number }[];
  /** The newest transaction that touched any of them. */
  readonly newest: bigint;
  /** A node was listed and then gone. */
  readonly moved: boolean;
}

/** null = no answer; then nothing follows. A node and the list of its children are read in one moment. */
export async function* walk(session: Session): AsyncGenerator<WalkedPage | null, void, undefined> {
  const root = await session.children("/");
  if (!root.ok) {
    yield null;
    return;
  }
  const waiting: string[][] = [root.value.names.filter((name) => name !== "zookeeper").map((name) => `/${name}`)];
  yield { nodes: [], versions: [], newest: root.value.stat.pzxid, moved: false };
  for (let paths = waiting.pop(); paths !== undefined; paths = waiting.pop()) {
    const page = paths.splice(0, PAGE);
    if (paths.length > 0) waiting.push(paths);
    if (page.length === 0) continue;
    const answers = await session.readMany(page.flatMap((path): Read[] => [{ get: path }, { children: path }]));
    if (!answers.ok) {
      yield null;
      return;
    }
    const nodes: SnapshotNode[] = [];
    const versions: { path: string; version: number }[] = [];
    let newest = 0n;
    let moved = false;
    for (const [i, path] of page.entries()) {
      const [node, children] = answers.value.slice(2 * i, 2 * i + 2);
      if (node?.kind !== "node") {
        moved = true;
        continue;
      }
      const { data, stat } = node.node;
      if (stat.ephemeralOwner !== 0n) continue;
      nodes.push({ path, data });
      versions.push({ path, version: stat.version });
      const touched = touchedAt(path, stat);
      if (touched > newest) newest = touched;
      const names = children?.kind === "children" ? children.names : [];
      if (names.length > 0) waiting.push(names.map((name) => `${path}/${name}`));
    }
    yield { nodes, versions, newest, moved };
  }
}

function touchedAt(path: string, { mzxid, pzxid }: Stat): bigint {
  if (SESSIONS_OWN.test(path)) return mzxid;
  return mzxid > pzxid ? mzxid : pzxid;
}
