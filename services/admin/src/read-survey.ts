import {
  BATCH_STATES,
  type BatchState,
  type Holds,
  JOB_STATES,
  type JobState,
  paths,
  peek,
  readChores,
  readHolds,
  sortEntries,
  type Stage,
  STAGES,
  stateOf,
} from "@sluice/queue-core";
import type { ReadAnswer, Session } from "@sluice/zookeeper";
import { earliest } from "./entries.ts";
import { OPEN_BATCH_STATES, type OpenBatches, readOpenBatches } from "./open-batches.ts";
import { readOtherWork } from "./other-work.ts";
import { estimate, type ReadyEstimate, sampleOf } from "./sample.ts";
import type { FleetSurvey, StageSurvey } from "./survey.ts";

interface Counts {
  readonly jobs: Readonly<Record<JobState, number>>;
  readonly batches: Readonly<Record<BatchState, number>>;
  readonly workers: Readonly<Record<Stage, number>>;
}

/** Null = no answer. Counts come from numChildren, in one round trip; only queues that are not empty are listed. */
export async function readSurvey(session: Session, fleetId: string, nowMs: number): Promise<FleetSurvey | null> {
  const holds = await readHolds(session);
  const counts = await readCounts(session);
  const chores = await readChores(session);
  if (!holds.ok || counts === null || chores === null) return null;
  const open = await readOpenBatches(session, counts.batches);
  if (open === null) return null;
  const stages = await Promise.all(
    STAGES.map((stage) => surveyStage(session, stage, { counts, holds: holds.value, open })),
  );
  if (stages.some((stage) => stage === null)) return null;
  return {
    fleetId,
    atMs: nowMs,
    jobs: counts.jobs,
    batches: counts.batches,
    batchAgesMs: OPEN_BATCH_STATES.map((state) => [state, ageMs(session, open.oldestAtMs[state])]),
    holds: holds.value,
    choresDoneMs: new Map([...chores].map(([chore, { done }]) => [chore, done])),
    stages: stages.filter((stage) => stage !== null),
  };
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

interface Known {
  readonly counts: Counts;
  readonly holds: Holds;
  readonly open: OpenBatches;
}

async function surveyStage(session: Session, stage: Stage, known: Known): Promise<StageSurvey | null> {
  const { counts, holds, open } = known;
  const state = stateOf(stage);
  const jobs = state === null ? 0 : counts.jobs[state];
  const estimated = state === null || jobs === 0 ? NOTHING : await readyJobs(session, state);
  const other = await readOtherWork(session, stage, new Set(open.inHand.map(({ batch }) => batch)));
  if (estimated === null || other === null) return null;
  const paused = holds.queuePaused || holds.pausedStages.has(stage);
  const batches = open.inHand.filter((each) => each.stage === stage).map(({ sinceMs }) => sinceMs);
  return {
    stage,
    state,
    waiting: jobs + other.count,
    ready: paused ? 0 : estimated.ready + other.ready,
    exact: estimated.exact,
    oldestReadyAgeMs: paused ? 0 : ageMs(session, earliest([estimated.oldestReadyAtMs, other.oldestReadyAtMs])),
    oldestLockAgeMs: ageMs(session, earliest([estimated.oldestLockAtMs, ...batches])),
    workers: counts.workers[stage],
    paused,
  };
}

/** 0 when there is nothing whose age it could be. */
const ageMs = (session: Session, sinceMs: number | null): number =>
  sinceMs === null ? 0 : Math.max(0, session.serverNowMs() - sinceMs);

const NOTHING: ReadyEstimate = { ready: 0, exact: true, oldestReadyAtMs: null, oldestLockAtMs: null };

async function readyJobs(session: Session, state: JobState): Promise<ReadyEstimate | null> {
  const listed = await session.children(paths.queue(state));
  if (!listed.ok) return null;
  const { head, spread, rest } = sampleOf(sortEntries(listed.value.names));
  const looked = await peek(session, state, [...head, ...spread]);
  return looked.ok ? estimate(looked.value.slice(0, head.length), looked.value.slice(head.length), rest) : null;
}
