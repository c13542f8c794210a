/** The archive in its two tables. Jobs first, a page per transaction; the batch's row last: it says that all are there. */
import type { ArchivedBatch, ArchivedJob, BatchToArchive } from "./archive.ts";
import { type Database, found, inTransaction, reading, type Tx } from "./database.ts";
import type { ArchivePage, ArchiveResult, Found } from "./inventory.ts";

export async function archiveBatch(database: Database, batch: BatchToArchive): Promise<ArchiveResult> {
  let jobs = 0;
  for await (const page of batch.jobs) {
    const answer = await inTransaction(database, (tx) => putJobs(tx, batch.uuid, page));
    if (!answer.ok) return answer.fault;
    jobs += page.length;
  }
  const answer = await inTransaction(database, (tx) => putBatch(tx, batch));
  return answer.ok ? { kind: "archived", jobs } : answer.fault;
}

async function putJobs(tx: Tx, batchUuid: string, jobs: readonly ArchivedJob[]): Promise<void> {
  if (jobs.length === 0) return;
  const ids = jobs.map(({ id }) => id);
  await tx.deleteFrom("archived_jobs").where("batch_uuid", "=", batchUuid).where("job_id", "in", ids).execute();
  const rows = jobs.map((job) => ({
    batch_uuid: batchUuid,
    job_id: job.id,
    job_uuid: job.uuid,
    status: job.outcome.status,
    document: JSON.stringify(job),
  }));
  await tx.insertInto("archived_jobs").values(rows).execute();
}

async function putBatch(tx: Tx, { jobs: _jobs, ...facts }: BatchToArchive): Promise<void> {
  await tx.deleteFrom("archived_batches").where("batch_uuid", "=", facts.uuid).execute();
  const { id, uuid, outcome, profile, submitter, archivedAt } = facts;
  await tx
    .insertInto("archived_batches")
    .values({
      batch_id: id,
      batch_uuid: uuid,
      status: outcome.status,
      profile,
      submitter,
      archived: archivedAt,
      document: JSON.stringify(facts),
    })
    .execute();
}

export async function findArchivedBatch(database: Database, id: string): Promise<Found<ArchivedBatch>> {
  const answer = await reading(database, async (db) => {
    const row = await db
      .selectFrom("archived_batches")
      .select(["batch_uuid", "document"])
      .where((is) => is.or([is("batch_id", "=", id), is("batch_uuid", "=", id)]))
      .orderBy("id", "desc")
      .limit(1)
      .executeTakeFirst();
    if (row === undefined) return null;
    const counts = await db
      .selectFrom("archived_jobs")
      .select(({ fn }) => ["status", fn.countAll<number | string>().as("jobs")])
      .where("batch_uuid", "=", row.batch_uuid)
      .groupBy("status")
      .execute();
    const jobCounts = Object.fromEntries(counts.map(({ status, jobs }) => [status, Number(jobs)]));
    return { ...(JSON.parse(row.document) as Omit<ArchivedBatch, "jobCounts">), jobCounts };
  });
  return found(answer);
}

export async function findArchivedJob(database: Database, id: string): Promise<Found<ArchivedJob>> {
  const answer = await reading(database, async (db) => {
    const row = await db
      .selectFrom("archived_jobs")
      .select("document")
      .where((is) => is.or([is("job_id", "=", id), is("job_uuid", "=", id)]))
      .orderBy("id", "desc")
      .limit(1)
      .executeTakeFirst();
    return row === undefined ? null : jobOf(row);
  });
  return found(answer);
}

export async function listArchivedJobs(
  database: Database,
  batch: ArchivedBatch,
  { after = "", limit }: ArchivePage,
): Promise<Found<readonly ArchivedJob[]>> {
  const answer = await reading(database, (db) =>
    db
      .selectFrom("archived_jobs")
      .select("document")
      .where("batch_uuid", "=", batch.uuid)
      .where("job_id", ">", after)
      .orderBy("job_id")
      .limit(limit)
      .execute(),
  );
  return found(answer.ok ? { ok: true, value: answer.value.map(jobOf) } : answer);
}

const jobOf = ({ document }: { readonly document: string }): ArchivedJob => JSON.parse(document) as ArchivedJob;
