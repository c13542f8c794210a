/** Lets go what the general queue keeps for a while: its archive, entries of dead workers, blobs that nobody names. */
import { z } from "zod";
import { DAY_MS, days, settingsOf } from "./data.ts";
import { EXIT, type FleetHandler, outcome } from "./handler.ts";

/** One kind of thing that is kept for a while. Letting go twice is the same as once. */
export interface Purge {
  readonly what: "runs" | "workers" | "blobs";
  /** How many went. */
  readonly run: (olderThanMs: number, signal: AbortSignal) => Promise<number>;
}

const Settings = z.object({ runsDays: days(14), workersDays: days(1), blobsDays: days(1) });
const RETENTION = { runs: "runsDays", workers: "workersDays", blobs: "blobsDays" } as const;

export function purgeHandler(purges: readonly Purge[]): FleetHandler {
  return async (job, signal) => {
    const settings = settingsOf(Settings, job);
    if (!settings.ok) return settings.outcome;
    const gone: Record<string, number> = {};
    const troubles: string[] = [];
    for (const { what, run } of purges) {
      if (signal.aborted) break;
      try {
        gone[what] = await run(settings.value[RETENTION[what]] * DAY_MS, signal);
      } catch (error) {
        // One store that is away keeps nobody from tidying the others.
        troubles.push(`${what}: ${error instanceof Error ? error.message : String(error)}`);
      }
    }
    return outcome(troubles.length === 0 ? EXIT.done : EXIT.notNow, { gone, troubles });
  };
}
