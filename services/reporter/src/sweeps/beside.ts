/** What a program with CDL's library does beside this fleet, and tells nobody: taken up, mended, or at least noticed. */
import {
  adoptBatch,
  type Adoption,
  type BatchId,
  type Beside,
  jobsMadeBeside,
  noteFailures,
  putInPlace,
  readBeside,
  readIdentity,
  suspectsOfDisplacement,
  unknownBatches,
} from "@sluice/queue-core";
import type { Sweep, SweepContext } from "@sluice/stage-runtime";

/** batch: taken over; failure: of its stage, its depositor is told; place: a job put where its status says; overwritten: noticed. */
export const BESIDE_FINDINGS = ["batch", "failure", "place", "overwritten"] as const;
export type OnBeside = (what: (typeof BESIDE_FINDINGS)[number]) => void;

/** Said once more after so many others. */
const TOLD_MAX = 1_000;

/** Nothing to do, at the cost of one read, where nobody was let in. */
export function besideSweep(everyMs: number, found: OnBeside = () => undefined): Sweep {
  const told = new Set<string>();
  const isNews = (what: string): boolean => {
    if (told.has(what)) return false;
    if (told.size >= TOLD_MAX) told.clear();
    told.add(what);
    return true;
  };
  return {
    kind: "sweep",
    name: "beside",
    everyMs,
    async run(ctx) {
      const beside = await readBeside(ctx.queue.session);
      if (!beside.ok || beside.value === null) return;
      const parts: Parts = { ctx, beside: beside.value, found, isNews };
      await takeUpBatches(parts);
      if (!ctx.signal.aborted) await tellFailures(parts);
      if (!ctx.signal.aborted) await mendPlaces(parts);
    },
  };
}

interface Parts {
  readonly ctx: SweepContext;
  readonly beside: Beside;
  readonly found: OnBeside;
  readonly isNews: (what: string) => boolean;
}

async function takeUpBatches({ ctx, beside, found, isNews }: Parts): Promise<void> {
  const { queue, worker, log } = ctx;
  const unknown = await unknownBatches(queue.session, beside);
  if (unknown === null || unknown.length === 0) return;
  const identity = await readIdentity(queue);
  const jobs = await jobsMadeBeside(queue.session, beside);
  if (!identity.ok || jobs === null) return;
  const { epoch } = identity.identity;
  const adopter = { epoch, by: worker, jobsOf: (id: BatchId) => Promise.resolve(jobs.get(id) ?? []) };
  for (const batch of unknown) {
    if (ctx.signal.aborted) return;
    const adoption: Adoption = await adoptBatch(queue, adopter, batch);
    if (adoption.kind === "lost") return;
    const facts = { batch_id: batch.id, ...adoption };
    if (adoption.kind === "adopted") {
      found("batch");
      log.info(facts, "a batch that another program has made is taken over");
    } else if (isNews(`${batch.id} ${adoption.why}`)) {
      log.info(facts, "a batch that another program has made waits");
    }
  }
}

async function tellFailures({ ctx, beside, found, isNews }: Parts): Promise<void> {
  for (const { id, kind, message } of (await noteFailures(ctx.queue, beside, ctx.worker)) ?? []) {
    const facts = { job_id: id, problem: message };
    if (kind === "noted") {
      found("failure");
      ctx.log.warn(facts, "another program has failed a job: its depositor is told");
    } else if (isNews(`${id} ${message}`)) {
      found("overwritten");
      ctx.log.error(facts, "a job was failed by one who had lost it: left as it is");
    }
  }
}

async function mendPlaces({ ctx, beside, found }: Parts): Promise<void> {
  for (const id of (await suspectsOfDisplacement(ctx.queue.session)) ?? []) {
    if (ctx.signal.aborted) return;
    const placed = await putInPlace(ctx.queue, id, beside);
    if (placed.kind === "lost") return;
    if (placed.kind !== "mended") continue;
    found("place");
    ctx.log.warn({ job_id: id }, "a job was not where its status says: put there");
  }
}
