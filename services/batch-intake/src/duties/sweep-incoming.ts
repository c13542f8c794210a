import type { Sweep } from "@sluice/stage-runtime";
import type { IncomingFolders } from "../files/incoming.ts";

const EVERY_MS = 3_600_000;

/** Uploads whose process died before they became a batch: nobody was told that they are safe. */
export function sweepIncoming(incoming: IncomingFolders, maxAgeMs: number): Sweep {
  return {
    kind: "sweep",
    name: "abandoned-uploads",
    everyMs: EVERY_MS,
    async run({ clock, log }) {
      const removed = await incoming.removeOlderThan(clock.nowMs() - maxAgeMs);
      if (removed.length > 0) log.info({ removed: removed.length }, "abandoned uploads removed");
    },
  };
}
