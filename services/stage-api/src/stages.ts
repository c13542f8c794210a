/** Which stages can be worked from elsewhere, and what each may write. */
import { type JobState, type Stage, STAGES, stateOf } from "@sluice/queue-core";
import type { StageChanges } from "@sluice/wire";

export type Change = keyof StageChanges;

/** What the fleet's own service of that stage writes, and no more: a leaked token must not change other stages' findings. */
const MAY_WRITE: Readonly<Partial<Record<Stage, readonly Change[]>>> = {
  "batch-intake": ["message"],
  estimator: ["message", "space_needed", "priority_delta"],
  downloader: ["message", "keep_files"],
  processor: ["message", "identifiers", "metadata", "inventory", "keep_files"],
  recorder: ["message"],
  notifier: ["message"],
};

/** Not the provisioner, whose admissions are proven against the room of all jobs; not the reporter, which works batches. */
export const REMOTE_STAGES: readonly Stage[] = STAGES.filter((stage) => MAY_WRITE[stage] !== undefined);

export interface RemoteStage {
  readonly stage: Stage;
  readonly takes: JobState;
  readonly mayWrite: readonly Change[];
}

/** null = there is no such stage here. */
export function remoteStage(name: string, served: readonly Stage[]): RemoteStage | null {
  const stage = served.find((each) => each === name);
  const takes = stage === undefined ? null : stateOf(stage);
  const mayWrite = stage === undefined ? undefined : MAY_WRITE[stage];
  return stage === undefined || takes === null || mayWrite === undefined ? null : { stage, takes, mayWrite };
}

/** The first change that the stage may not make; null = it may make all of them. */
export const forbiddenChange = ({ mayWrite }: RemoteStage, changes: StageChanges): string | null =>
  Object.keys(changes).find((change) => !mayWrite.some((each) => each === change)) ?? null;
