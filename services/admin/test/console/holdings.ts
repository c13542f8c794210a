/** A tree with something of everything to look at. */
import {
  actOnJob,
  type BatchId,
  type JobId,
  type JobSpec,
  openReport,
  type QueueContext,
  setHold,
} from "@sluice/queue-core";
import { aBatchOfJobs, aJobSpec, aSubmission, claimJob, type TestWorker, testWorker } from "@sluice/testkit";
import { COLLECTION } from "../support.ts";

export const OTHER = "other_content";
export const OLGA = { name: "olga", reason: "the disk was full" };

export interface Holdings {
  readonly intake: TestWorker;
  readonly reporter: TestWorker;
  /** Of the depositor's collection. */
  readonly maps: { readonly batch: BatchId; readonly jobs: readonly JobId[] };
  readonly letters: { readonly batch: BatchId; readonly jobs: readonly JobId[] };
  /** Has reported, with one failed job. */
  readonly reported: BatchId;
  readonly close: () => Promise<void>;
}

const spec = (profile: string, name: string): JobSpec => {
  const base = aJobSpec();
  return { ...base, configuration: { ...base.configuration, profile_name: profile, payload_name: name } };
};
const named = (profile: string, names: readonly string[]): readonly JobSpec[] =>
  names.map((name) => spec(profile, name));

export async function fail(ctx: QueueContext, id: JobId): Promise<void> {
  const done = await actOnJob(ctx, OLGA, "fail", id);
  if (done.kind !== "applied") throw new Error(JSON.stringify(done));
}

export async function prepare(connect: string): Promise<Holdings> {
  const intake = await testWorker(connect, "batch-intake", { name: "intake-1" });
  const reporter = await testWorker(connect, "reporter", { name: "reporter-1" });
  const maps = await aBatchOfJobs(
    intake,
    named(COLLECTION, ["map-1.tif", "map-2.tif", "map-3.tif", "map-4.tif", "map-5.tif", "map-6.tif"]),
    aSubmission({ erc_what: "Maps of the delta" }),
  );
  // One goes on to the next stage by a worker's hand, so that there is a history to see.
  const first = await claimJob(intake, "Pending", maps.jobs[0]!);
  await intake.jobs.commit(first, { kind: "done", changes: {} });
  const letters = await aBatchOfJobs(
    intake,
    named(OTHER, ["letter-1.pdf", "letter-2.pdf"]),
    aSubmission({ profile_name: OTHER, erc_what: "Letters home" }),
  );
  await setHold(intake.ctx, OLGA, { kind: "collection", profile: OTHER });
  return {
    intake,
    reporter,
    maps,
    letters,
    reported: (await aReportedBatch({ intake, reporter }, "A lost paper")).batch,
    close: async () => {
      await Promise.all([intake.close(), reporter.close()]);
    },
  };
}

/** A batch that has reported with its one job failed. */
export async function aReportedBatch(
  { intake, reporter }: Pick<Holdings, "intake" | "reporter">,
  title: string,
): Promise<Holdings["maps"]> {
  const made = await aBatchOfJobs(intake, named(COLLECTION, ["lost.pdf"]), aSubmission({ erc_what: title }));
  await fail(intake.ctx, made.jobs[0]!);
  await openReport(reporter.ctx, made.batch);
  const claim = await reporter.batches.claim("Reporting", made.batch);
  if (claim.kind !== "acquired") throw new Error(claim.kind);
  const report = { last_modified: "", failed_jobs: [...made.jobs], successful_jobs: [] };
  await reporter.batches.settle(claim.loaded, { kind: "verdict", report });
  return made;
}
