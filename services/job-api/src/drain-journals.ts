/** Before the process goes for good: what it accepted on its own disk reaches the owners, as long as there is time. */
import type { JobJournals } from "@sluice/job-journal";
import type { Log } from "@sluice/stage-runtime";
import { setTimeout as pause } from "node:timers/promises";

const LOOK_EVERY_MS = 100;

/** Lines are taken in all the time; this only waits. Nobody may add any more. */
export async function drainJournals(
  journals: Pick<JobJournals, "stats">,
  log: Pick<Log, "info" | "warn">,
  signal: AbortSignal,
): Promise<void> {
  const before = linesIn(journals);
  if (before.all > 0) log.info({ jobs: before.all }, "waits until the owners have what is in the journal");
  while (linesIn(journals).movable > 0 && !signal.aborted)
    await pause(LOOK_EVERY_MS, undefined, { signal }).catch(() => undefined);
  const { all } = linesIn(journals);
  if (all > 0) log.warn({ jobs: all }, "stopped with jobs in the journal: they stay in JOURNAL_DIR");
  else if (before.all > 0) log.info({ jobs: before.all }, "the journal is empty");
}

/** A journal that cannot be written any more cannot be emptied either: waiting for it would be for nothing. */
function linesIn(journals: Pick<JobJournals, "stats">): { readonly all: number; readonly movable: number } {
  const stats = [...journals.stats().values()];
  const sum = (of: typeof stats): number => of.reduce((total, { lines }) => total + lines, 0);
  return { all: sum(stats), movable: sum(stats.filter(({ broken }) => broken === null)) };
}
