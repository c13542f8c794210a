/** Folders of the working volume whose batch is not in the tree. */
import { parseBatchId, paths } from "@sluice/queue-core";
import type { Session } from "@sluice/zookeeper";
import type { RuleContext, Suspicion } from "./facts.ts";

export interface FolderOnDisk {
  readonly path: string;
  readonly batch: string;
  readonly changedMs: number;
  /** Its submission waits in a journal. */
  readonly journaled: boolean;
}

/** null: the working folder cannot be read. */
export type ListFolders = () => Promise<readonly FolderOnDisk[] | null>;

const PAGE = 500;
/** An upload that is on its way to the queue. */
const ON_ITS_WAY_MS = 600_000;
/** The intake removes what is two days old: what is older than three, it leaves for people. */
const REMOVED_WITHIN_MS = 3 * 86_400_000;
const HUMAN =
  "the intake removes it by itself after INCOMING_MAX_AGE_MS if it was made since the tree's last restore; an older one may be " +
  "all there is of a deposit that the restore did not bring back: sluice lost says what it was, and makes it again";

/** To look at nothing is not to find nothing. */
const UNREADABLE: Suspicion = {
  rule: "FOLDER",
  path: "working folder",
  what: "cannot be read: folders without a batch were not looked for",
  sinceMs: null,
  mend: { human: "make it readable for whoever runs fsck, or run fsck where it is" },
};

/** null = no answer. */
export async function judgeFolders(
  session: Session,
  list: ListFolders | undefined,
  { nowMs }: RuleContext,
): Promise<readonly Suspicion[] | null> {
  const listed = list === undefined ? [] : await list();
  if (listed === null) return [UNREADABLE];
  const candidates = listed.flatMap((folder) => {
    const id = parseBatchId(folder.batch);
    return id === null || folder.journaled || nowMs - folder.changedMs < ON_ITS_WAY_MS ? [] : [{ folder, id }];
  });
  if (candidates.length === 0) return [];
  // A batch that was made before the folders were listed is seen from here on.
  if (!(await session.barrier())) return null;
  const found: Suspicion[] = [];
  for (let i = 0; i < candidates.length; i += PAGE) {
    const page = candidates.slice(i, i + PAGE);
    const answers = await session.readMany(page.map(({ id }) => ({ get: paths.batch(id) })));
    if (!answers.ok) return null;
    for (const [k, { folder, id }] of page.entries()) {
      if (answers.value[k]?.kind !== "none") continue;
      const what = `a folder of ${id}, which is not in the tree`;
      const { path, changedMs: sinceMs } = folder;
      found.push({ rule: "FOLDER", path, what, sinceMs, warnForMs: REMOVED_WITHIN_MS, mend: { human: HUMAN } });
    }
  }
  return found;
}
