/** Lets go what the general queue keeps for a while: old runs of its archive, and blobs that nobody names. */
import { z } from "zod";
import { DAY_MS, days, settingsOf } from "./data.ts";
import { EXIT, type FleetHandler, outcome } from "./handler.ts";

/** Letting go twice is the same as once. Each says how many files went. */
export interface Purges {
  readonly runs: (olderThanMs: number, signal: AbortSignal) => Promise<number>;
  /** No time of theirs: the store knows when nobody can be about to name one. */
  readonly blobs: (signal: AbortSignal) => Promise<number>;
}

const Settings = z.object({ runsDays: days(14) });

export function purgeHandler(purges: Purges): FleetHandler {
  return async (job, signal) => {
    const settings = settingsOf(Settings, job);
    if (!settings.ok) return settings.outcome;
    const gone: Record<string, number> = {};
    const troubles: string[] = [];
    const letGo = async (what: keyof Purges, run: () => Promise<number>): Promise<void> => {
      try {
        gone[what] = await run();
      } catch (error) {
        // One that cannot go now keeps nobody from the others.
        troubles.push(`${what}: ${error instanceof Error ? error.message : String(error)}`);
      }
    };
    await letGo("runs", () => purges.runs(settings.value.runsDays * DAY_MS, signal));
    await letGo("blobs", () => purges.blobs(signal));
    return outcome(troubles.length === 0 ? EXIT.done : EXIT.notNow, { gone, troubles });
  };
}
