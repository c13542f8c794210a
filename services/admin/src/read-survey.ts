import {
  BATCH_STATES,
  type BatchState,
  type Holds,
  JOB_STATES,
  type JobState,
  paths,
  peek,
  readHolds,
  sortEntries,
  type Stage,
  STAGES,
  stateOf,
} from "@sluice/queue-core";
import type { ReadAnswer, Session } from "@sluice/zookeeper";
import { estimate, type ReadyEstimate, sampleOf } from "./sample.ts";
import type { FleetSurvey, StageSurvey } from "./survey.ts";

/** Work of a stage that is no job: batches and notices, each an entry of a directory. */
const OTHER_WORK: Readonly<Partial<Record<Stage, readonly string[]>>> = {
  "batch-intake": [paths.fleetBatchQueue("Pending")],
  notifier: [paths.callbacks],
  reporter: [paths.dueBatches, paths.fleetBatchQueue("Reporting"), paths.fleetBatchQueue("UpdateReporting")],
};

/** Of such entries the first by name are looked at for their age: batch and job numbers grow with time. */
const OLDEST_LOOKED_AT = 20;

interface Counts {
  readonly jobs: Readonly<Record<JobState, number>>;
  readonly batches: Readonly<Record<BatchState, number>>;
  readonly workers: Readonly<Record<Stage, number>>;
}

/** Null = no answer. Counts come from numChildren, in one round trip; only queues that are not empty are listed. */
export async function readSurvey(session: Session, fleetId: string, nowMs: number): Promise<FleetSurvey | null> {
  const holds = await readHolds(session);
  const counts = await readCounts(session);
  if (!holds.ok || counts === null) return null;
  const stages = await Promise.all(STAGES.map((stage) => surveyStage(session, stage, counts, holds.value)));
  if (stages.some((stage) => stage === null)) return null;
  const { jobs, batches } = counts;
  return { fleetId, atMs: nowMs, jobs, batches, holds: holds.value, stages: stages.filter((stage) => stage !== null) };
}

const childrenOf = (answer: ReadAnswer | undefined): number =>
  answer?.kind === "node" ? answer.node.stat.numChildren : 0;

async function readCounts(session: Session): Promise<Counts | null> {
  const directories = [
    ...JOB_STATES.map(paths.queue),
    ...BATCH_STATES.map(paths.fleetBatchQueue),
    ...STAGES.map(paths.stageWorkers),
  ];
  const answers = await session.readMany(directories.map((get) => ({ get })));
  if (!answers.ok) return null;
  const counts = answers.value.map(childrenOf);
  const take = <K extends string>(keys: readonly K[], from: number): Record<K, number> =>
    Object.fromEntries(keys.map((key, i) => [key, counts[from + i] ?? 0])) as Record<K, number>;
  return {
    jobs: take(JOB_STATES, 0),
    batches: take(BATCH_STATES, JOB_STATES.length),
    workers: take(STAGES, JOB_STATES.length + BATCH_STATES.length),
  };
}

async function surveyStage(session: Session, stage: Stage, counts: Counts, holds: Holds): Promise<StageSurvey | null> {
  const state = stateOf(stage);
  const jobs = state === null ? 0 : counts.jobs[state];
  const estimated = state === null || jobs === 0 ? NOTHING : await readyJobs(session, state);
  const other = await otherWork(session, OTHER_WORK[stage] ?? []);
  if (estimated === null || other === null) return null;
  const paused = holds.queuePaused || holds.pausedStages.has(stage);
  const ageMs = (sinceMs: number): number => Math.max(0, session.serverNowMs() - sinceMs);
  const oldest = [estimated.oldestReadyAtMs, other.oldestAtMs].filter((ms) => ms !== null);
  return {
    stage,
    state,
    waiting: jobs + other.count,
    ready: paused ? 0 : estimated.ready + other.count,
    exact: estimated.exact,
    oldestReadyAgeMs: paused || oldest.length === 0 ? 0 : ageMs(Math.min(...oldest)),
    oldestLockAgeMs: estimated.oldestLockAtMs === null ? 0 : ageMs(estimated.oldestLockAtMs),
    workers: counts.workers[stage],
    paused,
  };
}

const NOTHING: ReadyEstimate = { ready: 0, exact: true, oldestReadyAtMs: null, oldestLockAtMs: null };

async function readyJobs(session: Session, state: JobState): Promise<ReadyEstimate | null> {
  const listed = await session.children(paths.queue(state));
  if (!listed.ok) return null;
  const { head, spread, rest } = sampleOf(sortEntries(listed.value.names));
  const looked = await peek(session, state, [...head, ...spread]);
  return looked.ok ? estimate(looked.value.slice(0, head.length), looked.value.slice(head.length), rest) : null;
}

interface OtherWork {
  readonly count: number;
  readonly oldestAtMs: number | null;
}

async function otherWork(session: Session, directories: readonly string[]): Promise<OtherWork | null> {
  let count = 0;
  const first: string[] = [];
  for (const directory of directories) {
    const listed = await session.children(directory);
    if (!listed.ok) return null;
    count += listed.value.names.length;
    first.push(
      ...[...listed.value.names]
        .sort()
        .slice(0, OLDEST_LOOKED_AT)
        .map((name) => `${directory}/${name}`),
    );
  }
  if (first.length === 0) return { count, oldestAtMs: null };
  const answers = await session.readMany(first.map((get) => ({ get })));
  if (!answers.ok) return null;
  const times = answers.value.flatMap((answer) => (answer.kind === "node" ? [answer.node.stat.ctime] : []));
  return { count, oldestAtMs: times.length === 0 ? null : Math.min(...times) };
}
