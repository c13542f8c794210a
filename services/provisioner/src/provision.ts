import type { Job } from "@sluice/queue-core";
import { done, type JobContext, type JobStage, type Outcome, snooze, type Survey } from "@sluice/stage-runtime";
import { decide, type SpaceLimits } from "./decide.ts";
import type { DedicatedVolumes } from "./dedicated-volumes.ts";

export interface ProvisioningParts {
  readonly survey: () => Promise<Survey>;
  readonly limits: SpaceLimits;
  readonly dedicated: DedicatedVolumes;
  /** Sees what was promised before each round: for the gauges. */
  readonly onRound: (reservedBytes: number) => void;
}

/** The space is decided upon before a job is claimed; what is left to do with an admitted one is to let it go on. */
export function provisioningStage(parts: ProvisioningParts): JobStage {
  return {
    kind: "job-stage",
    takes: "Provisioning",
    handle: (job, ctx) => provision(job, ctx, parts.dedicated),
    admit: {
      survey: parts.survey,
      decide: (candidates, promised, survey) => {
        parts.onRound(promised.bytes);
        return decide(candidates, promised, survey, parts.limits);
      },
    },
  };
}

async function provision(job: Job, ctx: JobContext, dedicated: DedicatedVolumes): Promise<Outcome> {
  const resource = job.configuration.resource_to_provision;
  if (resource === undefined) return done();
  const answer = await dedicated.provide(resource, job, ctx.signal);
  await ctx.failpoint("midEffect");
  if (answer.kind === "ready") return done();
  return snooze(answer.askAgainMs, `waits for ${resource}: ${answer.why}`);
}
