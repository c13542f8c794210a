/**
 * Waits a little within a run for somebody who does not answer. A fleet starts its services all at once, and the first runs of its
 * schedules come before admin listens: without this, a day's snapshot would begin with a failure in everybody's sight.
 */
import { EXIT, type FleetHandler } from "./handler.ts";

export type Pause = (ms: number, signal: AbortSignal) => Promise<void>;

const WAITS_MS = [1_000, 2_000, 5_000, 10_000, 20_000];

export function patient(handler: FleetHandler, pause: Pause): FleetHandler {
  return async (job, signal) => {
    let found = await handler(job, signal);
    for (const waitMs of WAITS_MS) {
      if (found.exit !== EXIT.notNow || signal.aborted) break;
      await pause(waitMs, signal);
      found = await handler(job, signal);
    }
    return found;
  };
}
