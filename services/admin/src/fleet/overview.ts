/** Everything on the first page, from one look that all who ask share. */
import { inScope, type Scope } from "@sluice/access";
import { JOB_STATES } from "@sluice/queue-core";
import { volumeSpace } from "@sluice/safe-io";
import type { OpenQueue } from "@sluice/stage-runtime";
import type { Overview, StageView } from "@sluice/wire";
import type { Clock } from "@sluice/zookeeper";
import type { JobIndex } from "../index/job-index.ts";
import type { FleetSurvey } from "../survey.ts";
import type { Surveyor } from "../surveyor.ts";
import { type HoldViews, readHoldViews } from "../views/holds.ts";
import { readWorkers, type Registered } from "../views/workers.ts";
import { type Failed, groupFailures, readFailed } from "./failures.ts";
import type { History } from "./history.ts";

export interface OverviewParts {
  readonly queue: () => OpenQueue | null;
  readonly clock: Clock;
  readonly surveyor: Surveyor;
  readonly index: JobIndex;
  readonly history: History;
  readonly workingDir: string;
  /** Share of the volume up to which the provisioner admits jobs. */
  readonly admitBelow: number;
}

/** What everybody may see is the same; what belongs to collections is cut to the caller's own. */
export interface FleetLook {
  readonly survey: FleetSurvey;
  readonly holds: HoldViews;
  readonly workers: readonly Registered[];
  readonly failed: readonly (Failed & { readonly collection: string | null })[];
  readonly space: Overview["space"];
}

export interface Overviews {
  look(): Promise<FleetLook | null>;
  overview(scope: Scope): Promise<Overview | null>;
}

const MAX_AGE_MS = 1_000;

export function makeOverviews(parts: OverviewParts): Overviews {
  const { clock } = parts;
  let last: { readonly look: FleetLook; readonly atMs: number } | null = null;
  let looking: Promise<FleetLook | null> | null = null;
  const read = async (): Promise<FleetLook | null> => {
    const look = await lookAtFleet(parts);
    last = look === null ? null : { look, atMs: clock.monotonicMs() };
    return look;
  };
  const look = (): Promise<FleetLook | null> => {
    if (last !== null && clock.monotonicMs() - last.atMs < MAX_AGE_MS) return Promise.resolve(last.look);
    looking ??= read().finally(() => (looking = null));
    return looking;
  };
  return {
    look,
    async overview(scope) {
      const seen = await look();
      return seen === null ? null : overviewOf(seen, scope, parts.history);
    },
  };
}

async function lookAtFleet(parts: OverviewParts): Promise<FleetLook | null> {
  const open = parts.queue();
  if (open === null) return null;
  const { session } = open.context;
  const [survey, holds, workers, counted, listed] = await Promise.all([
    parts.surveyor.survey(),
    readHoldViews(session),
    readWorkers(session),
    parts.index.count(session),
    parts.index.list(session, ["Failed"]),
  ]);
  if (survey === null || holds === null || workers === null || counted === null || listed === null) return null;
  const failed = await readFailed(session, listed[0]?.entries ?? []);
  if (
    failed === null ||
    !(await parts.index.learn(
      session,
      failed.map(({ id }) => ({ id, state: "Failed" })),
    ))
  ) {
    return null;
  }
  const volume = await volumeSpace(parts.workingDir);
  return {
    survey,
    holds,
    workers,
    failed: failed.map((job) => ({ ...job, collection: parts.index.factsOf(job.id)?.collection ?? null })),
    space: volume.ok
      ? {
          volume_bytes: volume.value.totalBytes,
          free_bytes: volume.value.freeBytes,
          reserved_bytes: counted.reservedBytes,
          admit_below: parts.admitBelow,
        }
      : null,
  };
}

function overviewOf(look: FleetLook, scope: Scope, history: History): Overview {
  const { survey, holds, failed, space } = look;
  const { completedPerMinute, failedPerMinute } = history.rates();
  const mine = failed.filter(
    ({ collection }) => scope === "all" || (collection !== null && inScope(scope, collection)),
  );
  return {
    at: new Date(survey.atMs).toISOString(),
    fleet_id: survey.fleetId,
    jobs: { ...survey.jobs },
    batches: { ...survey.batches },
    stages: stageViews(look),
    queue_paused: holds.queue,
    held_collections: [...holds.collections]
      .filter(([collection]) => inScope(scope, collection))
      .map(([collection, hold]) => ({ ...hold, collection })),
    space,
    failures: groupFailures(mine),
    completed_per_minute: completedPerMinute,
    failed_per_minute: failedPerMinute,
  };
}

export const stageViews = ({ survey, holds, workers }: FleetLook): StageView[] =>
  survey.stages.map(({ stage, state, waiting, ready, exact, oldestReadyAgeMs, workers: registered }) => ({
    stage,
    state: JOB_STATES.find((each) => each === state) ?? null,
    waiting,
    ready,
    exact,
    oldest_ready_seconds: Math.round(oldestReadyAgeMs / 1_000),
    workers: registered,
    in_hand: workers
      .filter((worker) => worker.stage === stage)
      .reduce((sum, { record }) => sum + record.jobs.length, 0),
    paused: holds.stages.get(stage) ?? null,
  }));
