/** What time takes away: archived runs that are too old. */
import type { ServiceParts } from "@sluice/stage-runtime";
import type { JobApiConfig } from "./config.ts";
import { later, type OpenedQueue } from "./open-queue.ts";

export interface Housekeeping {
  stop(): Promise<void>;
}

const EVERY_MS = 3_600_000;

/** Several processes may do it at once: what is gone is gone. */
export function startHousekeeping(
  { ARCHIVE_RETENTION_MS: retentionMs }: JobApiConfig,
  { archive }: Pick<OpenedQueue, "archive">,
  { clock, log }: ServiceParts,
): Housekeeping {
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
      const files = await archive.purge(clock.nowMs(), retentionMs);
      if (files > 0) log.info({ files }, "old runs left the archive");
    } catch (error) {
      log.error({ err: error }, "the archive could not be purged");
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
