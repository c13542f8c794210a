/**
 * Folders of batches that never were: the same submission came twice while the queue was silent, or a process died between
 * an upload's number and its batch. Nothing else would ever name them.
 */
import { parseBatchId, paths, type QueueContext } from "@sluice/queue-core";
import type { Sweep, SweepContext } from "@sluice/stage-runtime";
import type { BatchFolder, BatchFolders } from "@sluice/working-folder";

const EVERY_MS = 3_600_000;
const FOLDERS_PER_READ = 500;

export interface FolderSweepParts {
  readonly folders: Pick<BatchFolders, "list" | "remove">;
  /** No upload takes so long to become a batch, and no clocks are so far apart. */
  readonly graceMs: number;
  readonly onRemoved: () => void;
}

export function sweepFolders(parts: FolderSweepParts): Sweep {
  return {
    kind: "sweep",
    name: "folders-without-a-batch",
    everyMs: EVERY_MS,
    run: (ctx) => run(parts, ctx),
  };
}

async function run({ folders, graceMs, onRemoved }: FolderSweepParts, ctx: SweepContext): Promise<void> {
  const begun = await beginningOf(ctx.queue);
  const listed = begun === null ? null : await folders.list();
  if (begun === null || listed === null) return;
  const limitMs = ctx.clock.nowMs() - graceMs;
  const old = listed.filter(({ changedMs, journaled }) => !journaled && changedMs < limitMs);
  // What is older than this history of the tree may be all there is of a deposit that a restore did not bring back.
  const ours = old.filter(({ changedMs }) => changedMs > begun);
  if (ours.length < old.length)
    ctx.log.warn(
      { folders: old.length - ours.length },
      "folders from before the tree's last restore may be of no batch: see fsck",
    );
  for (let i = 0; i < ours.length && !ctx.signal.aborted; i += FOLDERS_PER_READ) {
    for (const folder of await withoutBatch(ctx.queue, ours.slice(i, i + FOLDERS_PER_READ))) {
      const removed = await folders.remove(folder);
      const { name, batch } = folder;
      if (removed.ok) ctx.log.warn({ folder: name, batch_id: batch }, "a folder that belongs to no batch was removed");
      else ctx.log.error({ folder: name, batch_id: batch, why: removed.error.message }, "a folder cannot be removed");
      if (removed.ok) onRemoved();
    }
  }
}

/** When this history of the tree began; null = no answer. */
async function beginningOf({ session }: QueueContext): Promise<number | null> {
  const id = await session.exists(paths.fleetId);
  return id.ok && id.value !== null ? id.value.ctime : null;
}

/** Surely not there: a batch whose journal has let go of its folder is seen behind the barrier. */
async function withoutBatch({ session }: QueueContext, some: readonly BatchFolder[]): Promise<readonly BatchFolder[]> {
  const known = some.flatMap((folder) => {
    const id = parseBatchId(folder.batch);
    return id === null ? [] : [{ folder, id }];
  });
  if (known.length === 0 || !(await session.barrier())) return [];
  const answers = await session.readMany(known.map(({ id }) => ({ get: paths.batch(id) })));
  if (!answers.ok) return [];
  return known.filter((_, i) => answers.value[i]?.kind === "none").map(({ folder }) => folder);
}
