/** The last hour in samples, taken by the service itself: charts have something to show as soon as they are opened. */
import { JOB_STATES, type JobState, paths } from "@sluice/queue-core";
import type { ExtraServer } from "@sluice/stage-runtime";
import type { HistorySample } from "@sluice/wire";
import type { Session } from "@sluice/zookeeper";
import type { Surveyor } from "../surveyor.ts";

export const SAMPLE_EVERY_MS = 10_000;
const SAMPLES_MAX = 3_600_000 / SAMPLE_EVERY_MS;
const MINUTE_MS = 60_000;
const RATE_MINUTES = 5;

export interface Rates {
  readonly completedPerMinute: number;
  readonly failedPerMinute: number;
}

export interface History {
  since(ms: number): readonly HistorySample[];
  rates(): Rates;
  sample(): Promise<void>;
}

export interface HistoryParts {
  readonly session: () => Session | null;
  readonly surveyor: Surveyor;
  readonly nowMs: () => number;
}

interface Ended {
  readonly completed: number;
  readonly failed: number;
}

/**
 * How many entries were ever made in a directory. Jobs are swept out of Completed, so that the number of its children says
 * little; ZooKeeper's cversion counts what was made and what was taken away.
 */
export const everMade = ({ cversion, numChildren }: { readonly cversion: number; readonly numChildren: number }) =>
  (cversion + numChildren) / 2;

export function makeHistory({ session, surveyor, nowMs }: HistoryParts): History {
  const samples: HistorySample[] = [];
  let before: Ended | null = null;

  async function readEnded(): Promise<Ended | null> {
    const now = session();
    const answers = await now?.readMany([{ get: paths.queue("Completed") }, { get: paths.queue("Failed") }]);
    if (answers?.ok !== true) return null;
    const [completed, failed] = answers.value;
    if (completed?.kind !== "node" || failed?.kind !== "node") return null;
    return { completed: everMade(completed.node.stat), failed: everMade(failed.node.stat) };
  }

  return {
    since: (ms) => samples.filter(({ at }) => Date.parse(at) >= ms),
    rates() {
      const recent = samples.filter(({ at }) => Date.parse(at) >= nowMs() - RATE_MINUTES * MINUTE_MS);
      const first = recent[0];
      if (first === undefined) return { completedPerMinute: 0, failedPerMinute: 0 };
      // The first sample counts from the one before it, ten seconds earlier.
      const minutes = (nowMs() - Date.parse(first.at) + SAMPLE_EVERY_MS) / MINUTE_MS;
      const sum = (key: "completed" | "failed"): number => recent.reduce((total, sample) => total + sample[key], 0);
      const perMinute = (key: "completed" | "failed"): number => Math.round((sum(key) / minutes) * 10) / 10;
      return { completedPerMinute: perMinute("completed"), failedPerMinute: perMinute("failed") };
    },
    async sample() {
      const [survey, ended] = await Promise.all([surveyor.survey(), readEnded()]);
      // A gap in the chart says that nobody answered.
      if (survey === null || ended === null) return;
      samples.push({
        at: new Date(nowMs()).toISOString(),
        jobs: Object.fromEntries(JOB_STATES.map((state) => [state, survey.jobs[state]])) as Record<JobState, number>,
        completed: Math.max(0, ended.completed - (before?.completed ?? ended.completed)),
        failed: Math.max(0, ended.failed - (before?.failed ?? ended.failed)),
        oldest_ready_seconds:
          survey.stages.reduce((most, { oldestReadyAgeMs }) => Math.max(most, oldestReadyAgeMs), 0) / 1_000,
      });
      before = ended;
      if (samples.length > SAMPLES_MAX) samples.shift();
    },
  };
}

/** Takes the samples for as long as the service runs. */
export function historyKeeper(history: History, onProblem: (error: unknown) => void): ExtraServer {
  let timer: NodeJS.Timeout | null = null;
  const sample = (): void => void history.sample().catch(onProblem);
  return {
    name: "history",
    start() {
      timer = setInterval(sample, SAMPLE_EVERY_MS).unref();
      return Promise.resolve();
    },
    stop() {
      if (timer !== null) clearInterval(timer);
      return Promise.resolve();
    },
  };
}
