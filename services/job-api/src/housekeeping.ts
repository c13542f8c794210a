/** What time takes away: archived runs that are too old, blobs that nothing names, jobs that nobody runs. */
import type { ServiceParts } from "@sluice/stage-runtime";
import type { JobApiConfig } from "./config.ts";
import { later, type OpenedQueue } from "./open-queue.ts";
import { makePurge } from "./purge.ts";

export interface Housekeeping {
  stop(): Promise<void>;
}

const EVERY_MS = 3_600_000;

/** Several processes may do it at once: what is gone is gone. */
export function startHousekeeping(
  { ARCHIVE_RETENTION_MS: retentionMs, UNRUN_EXPIRY_MS: unrunMs }: JobApiConfig,
  opened: Pick<OpenedQueue, "archive" | "blobs" | "redo" | "sessions" | "router">,
  { clock, log }: ServiceParts,
): Housekeeping {
  const purging = makePurge(opened, clock.nowMs);
  let cancel: () => void = () => undefined;
  let isOver = false;
  let round: Promise<void> = Promise.resolve();
  const rest = (): void => {
    if (isOver) return;
    cancel = later(EVERY_MS, () => {
      round = purge();
    });
  };
  const purge = async (): Promise<void> => {
    try {
      const runs = await purging.runs(retentionMs);
      const blobs = await purging.blobs();
      const { files: redo } = await opened.redo.prune();
      if (runs > 0 || (blobs ?? 0) > 0 || redo > 0) log.info({ runs, blobs, redo }, "old files left the store");
      // What happens to each of them is told by their owners.
      if (unrunMs > 0) await opened.router.everyShard({ verb: "ExpireJobs", before: clock.nowMs() - unrunMs });
    } catch (error) {
      log.error({ err: error }, "the store could not be purged");
    }
    rest();
  };
  round = purge();
  return {
    async stop() {
      isOver = true;
      cancel();
      await round;
    },
  };
}
