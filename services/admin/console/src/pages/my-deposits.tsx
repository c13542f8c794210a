/** A depositor's first page: what is on its way, what failed, and what to do about it. */
import { ADMIN, type BatchSummary, type JobSummary } from "@sluice/wire";
import { call } from "../api.ts";
import { useList } from "../list.ts";
import { withoutCode } from "../format.ts";
import { Link, type Place } from "../router.tsx";
import { stateThatAllows, useSession } from "../session.tsx";
import { Card, Head, ListMark, Nothing, Time, TroubleBox, Waiting } from "../ui/bits.tsx";
import { Pager } from "../ui/pages.tsx";
import { Table } from "../ui/table.tsx";
import { BATCH_COLUMNS } from "./batches.tsx";
import { nameOfJob } from "./job-columns.tsx";

export function MyDeposits({ place }: { readonly place: Place }) {
  const { me, model } = useSession();
  const batches = useList<BatchSummary>("mine", place.query.get("cursor"), (cursor, signal) =>
    call(ADMIN.batches, { query: { cursor, limit: 20 }, signal }),
  );
  const failedState = stateThatAllows(model, "resume");
  const failed = useList<JobSummary>("failed", null, (cursor, signal) =>
    call(ADMIN.jobs, { query: { cursor, limit: 20, state: failedState } as never, signal }),
  );
  return (
    <>
      <Head title="My batches">
        <ListMark trouble={batches.trouble} />
      </Head>
      <p class="quiet">
        Deposits in {me.collections === null ? "all collections" : me.collections.join(", ")}, newest first.
      </p>
      <TroubleBox trouble={batches.trouble} />
      <Table
        caption="My batches, newest first"
        columns={BATCH_COLUMNS}
        rows={batches.items}
        keyOf={({ bid }) => bid}
        empty="Nothing has been submitted yet."
      />
      <Pager place={place} next={batches.next} />
      <Card title="What failed, and what to do" aside={<Link to={`/jobs?state=${failedState}`}>All of it</Link>}>
        <TroubleBox trouble={failed.trouble} />
        <Failed jobs={failed.items} />
      </Card>
    </>
  );
}

function Failed({ jobs }: { readonly jobs: readonly JobSummary[] | null }) {
  const { model } = useSession();
  if (jobs === null) return <Waiting />;
  if (jobs.length === 0) return <Nothing>Nothing. Everything has arrived or is on its way.</Nothing>;
  return (
    <ul class="failures">
      {jobs.map((job) => (
        <li key={job.jid}>
          <p>
            <Link to={`/jobs/${job.jid}`}>
              <strong>{nameOfJob(job)}</strong>
            </Link>{" "}
            <span class="quiet">
              of {job.bid === null ? "" : <Link to={`/batches/${job.bid}`}>{job.bid}</Link>},{" "}
              <Time at={job.last_modified} />
            </span>
          </p>
          <p>
            <strong>What happened:</strong>{" "}
            {model.errors.find(({ code }) => code === job.error_code)?.says ?? "it failed"}:{" "}
            {withoutCode(job.message, job.error_code)}
          </p>
          {job.remedy === null ? null : (
            <p>
              <strong>What to do:</strong> {job.remedy}
            </p>
          )}
        </li>
      ))}
    </ul>
  );
}
