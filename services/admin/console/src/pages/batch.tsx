import { ADMIN, type BatchDetail, type JobSummary } from "@sluice/wire";
import { BatchActions } from "../actions/batch-actions.tsx";
import { call } from "../api.ts";
import { count } from "../format.ts";
import { useList } from "../list.ts";
import { useAnswer, useLive } from "../load.ts";
import { Link, type Place, withQuery } from "../router.tsx";
import { useModel, useSession } from "../session.tsx";
import { Card, Facts, Head, Hold, Id, LiveMark, State, Time, TroubleBox, Waiting } from "../ui/bits.tsx";
import { Mails } from "../ui/mails.tsx";
import { Pager } from "../ui/pages.tsx";
import { Table } from "../ui/table.tsx";
import { BatchProgress, nameOf } from "./batches.tsx";
import { BATCH_JOB_COLUMNS } from "./job-columns.tsx";
import { RawNodes } from "./raw-nodes.tsx";

interface BatchProps {
  readonly id: string;
  readonly place: Place;
}

export function Batch({ id, place }: BatchProps) {
  const { can } = useSession();
  const { value: batch, trouble, line, reload } = useLive(ADMIN.batchEvents, ADMIN.batch, { params: { id } });
  if (batch === null) return trouble === null ? <Waiting /> : <TroubleBox trouble={trouble} />;
  return (
    <>
      <Head title={nameOf(batch)} above={<Link to="/batches">Batches</Link>}>
        <LiveMark line={line} />
        <BatchActions batch={batch} onDone={reload} />
      </Head>
      <TroubleBox trouble={trouble} />
      <Summary batch={batch} />
      <JobsOf batch={batch} place={place} />
      <div class="columns">
        <About batch={batch} />
        <MailsAbout id={batch.bid} changed={batch.last_modified} />
      </div>
      {can(ADMIN.node) && !batch.archived ? <RawNodes path={`/batches/${batch.bid}`} /> : null}
    </>
  );
}

function Summary({ batch }: { readonly batch: BatchDetail }) {
  const model = useModel();
  const says = model.batch_states.find(({ state }) => state === batch.status)?.says ?? "";
  const error = model.errors.find(({ code }) => code === batch.error_code);
  return (
    <section class="card lead" aria-label="How it stands">
      <p>
        <State of={batch.status} /> <span class="quiet">{says}</span>
      </p>
      <BatchProgress batch={batch} />
      {batch.message === "" ? null : <p>{batch.message}</p>}
      {error === undefined ? null : (
        <p>
          <strong>What to do:</strong> {error.remedy}
        </p>
      )}
      {batch.hold === null ? null : (
        <p class="note warn">
          <Hold hold={batch.hold} what={`Collection ${batch.profile} is held`} />
        </p>
      )}
      {batch.counts.failed > 0 ? <p class="quiet">Each failed job says below what happened and what to do.</p> : null}
      {batch.archived ? (
        <p class="note">
          It left the queue <Time at={batch.archived_at} />: this is what the archive knows.
        </p>
      ) : null}
    </section>
  );
}

const OUTCOMES = ["processing", "failed", "completed", "deleted"] as const;

function JobsOf({ batch, place }: { readonly batch: BatchDetail; readonly place: Place }) {
  const wished = place.query.get("outcome");
  const outcome =
    OUTCOMES.find((each) => each === wished) ?? (wished === "all" || batch.counts.failed === 0 ? undefined : "failed");
  const list = useList<JobSummary>(`${batch.bid} ${outcome ?? ""}`, place.query.get("cursor"), (cursor, signal) =>
    call(ADMIN.batchJobs, { params: { id: batch.bid }, query: { outcome, cursor }, signal }),
  );
  const total = Object.values(batch.counts).reduce((sum, n) => sum + n, 0);
  return (
    <Card title="Jobs" aside={<Link to={`/jobs?batch=${batch.bid}`}>Among all jobs</Link>}>
      <nav class="tabs" aria-label="Jobs by outcome">
        {[["all", total] as const, ...OUTCOMES.map((each) => [each, batch.counts[each]] as const)].map(([each, n]) => (
          <Link
            key={each}
            to={withQuery(place, { outcome: each })}
            aria-current={(outcome ?? "all") === each ? "page" : undefined}
          >
            {each} <span class="quiet">{count(n)}</span>
          </Link>
        ))}
      </nav>
      <TroubleBox trouble={list.trouble} />
      <Table
        caption={`Jobs of ${batch.bid}`}
        columns={BATCH_JOB_COLUMNS}
        rows={list.items}
        keyOf={({ jid }) => jid}
        empty={total === 0 ? "No job has been made of it yet." : "None."}
      />
      <Pager place={place} next={list.next} />
    </Card>
  );
}

const About = ({ batch }: { readonly batch: BatchDetail }) => (
  <Card title="About">
    <Facts
      rows={[
        ["Batch", <Id>{batch.bid}</Id>],
        ["Id", <Id>{batch.id}</Id>],
        ["Collection", batch.profile],
        ["Submitter", batch.submitter],
        ["Told", batch.notification],
        ["Submitted", <Time at={batch.submitted} />],
        ["Changed", <Time at={batch.last_modified} />],
        ["Type", batch.type],
        ["Payload", batch.payload_url],
        ["Title", batch.title],
        ["Creator", batch.creator],
        ["Date", batch.date],
        ["ARK", batch.primary_id],
        ["Local ids", batch.local_id.join("; ")],
        [
          "Report",
          batch.report === null ? null : (
            <>
              {count(batch.report.successful)} successful, {count(batch.report.failed)} failed;{" "}
              <Time at={batch.report.last_modified} />
            </>
          ),
        ],
      ]}
    />
  </Card>
);

function MailsAbout({ id, changed }: { readonly id: string; readonly changed: string | null }) {
  const { model } = useSession();
  const mails = useAnswer(
    ADMIN.batchMails,
    { params: { id } },
    { everyMs: changed === null ? 10_000 : 8_000, when: model.development },
  );
  return (
    <Card title="Mails">
      {model.development ? (
        <Mails mails={mails.value?.items ?? null} trouble={mails.trouble} />
      ) : (
        <p class="quiet">Mails go out by SMTP; they are not kept here.</p>
      )}
    </Card>
  );
}
