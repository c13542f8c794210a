/** Looks the whole tree over from time to time, so that what contradicts itself is an alert and not a discovery. */
import { fsck, type FsckReport, type ListFolders } from "@sluice/fsck";
import type { ExtraServer, Log } from "@sluice/stage-runtime";
import type { Clock, Session } from "@sluice/zookeeper";
import { setTimeout as pause } from "node:timers/promises";
import { type ConsistencyMetrics, showReport } from "./gauges.ts";

export interface ConsistencyParts {
  readonly session: () => Session | null;
  readonly folders: ListFolders;
  /** 0 = never. */
  readonly everyMs: number;
  readonly metrics: ConsistencyMetrics;
  readonly clock: Clock;
  readonly log: Log;
}

/** A service that has just begun has others to serve first; one that is restarted again and again is checked all the same. */
const FIRST_AFTER_MS = 60_000;
/** While ZooKeeper does not answer. */
const AGAIN_AFTER_MS = 30_000;

/** Each admin looks for itself: there is nothing to agree on, and none shows what another one found long ago. */
export function consistencyKeeper(parts: ConsistencyParts): ExtraServer {
  const stopping = new AbortController();
  let running: Promise<void> = Promise.resolve();
  return {
    name: "consistency",
    start() {
      parts.metrics.interval.set(parts.everyMs / 1_000);
      if (parts.everyMs > 0) running = keepLooking(parts, stopping.signal);
      return Promise.resolve();
    },
    async stop() {
      stopping.abort();
      await running;
    },
  };
}

async function keepLooking(parts: ConsistencyParts, signal: AbortSignal): Promise<void> {
  let waitMs = Math.min(parts.everyMs, FIRST_AFTER_MS);
  for (;;) {
    await pause(waitMs, undefined, { signal, ref: false }).catch(() => undefined);
    if (signal.aborted) return;
    const looked = await look(parts, signal).catch((error: unknown) => {
      parts.log.error({ err: error }, "the tree could not be looked over");
      return false;
    });
    waitMs = looked ? parts.everyMs : Math.min(parts.everyMs, AGAIN_AFTER_MS);
  }
}

async function look(
  { session, folders, metrics, clock, log }: ConsistencyParts,
  signal: AbortSignal,
): Promise<boolean> {
  const open = session();
  if (open === null) return false;
  const fromMs = clock.monotonicMs();
  const result = await fsck(open, { signal, folders });
  if (result.kind !== "looked") return false;
  showReport(metrics, result.report);
  metrics.duration.set((clock.monotonicMs() - fromMs) / 1_000);
  metrics.lastCheck.set(clock.nowMs() / 1_000);
  tell(log, result.report);
  return true;
}

/** The first of each rule: `sluice fsck` has them all. */
function tell(log: Log, { rules, findings }: FsckReport): void {
  for (const { rule, warn, fail } of rules) {
    const first = findings.find((each) => each.rule === rule);
    if (first === undefined) continue;
    const facts = { rule, warn, fail, path: first.path, what: first.what };
    if (fail > 0) log.error(facts, "the tree contradicts a rule: see sluice fsck");
    else log.warn(facts, "the tree may contradict a rule: see sluice fsck");
  }
}
