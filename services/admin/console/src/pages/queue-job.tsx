import { JOBS, type JobRun, type QueuedJobDetail } from "@sluice/wire";
import { bytes, duration } from "../format.ts";
import { useAnswer } from "../load.ts";
import { QueueJobActions } from "../queue/job-actions.tsx";
import { Exit, jobAddress, Repeats, When } from "../queue/parts.tsx";
import { dataTextOf, toneOfQueueEvent, wordsOfQueueEvent } from "../queue/words.ts";
import { Link } from "../router.tsx";
import { Card, Facts, Head, Id, ListMark, Nothing, State, Time, TroubleBox, Waiting } from "../ui/bits.tsx";
import { type Column, Table } from "../ui/table.tsx";

interface QueueJobProps {
  readonly tenant: string;
  readonly id: string;
}

export function QueueJob({ tenant, id }: QueueJobProps) {
  const {
    value: job,
    trouble,
    reload,
  } = useAnswer(JOBS.describeJob, { params: { tenant, id: Number(id) } }, { everyMs: 3_000 });
  const above = (
    <>
      <Link to="/queues">Queues</Link> · <Link to={`/queues/${encodeURIComponent(tenant)}`}>{tenant}</Link>
    </>
  );
  if (job === null)
    return (
      <>
        <Head title={`Job ${id}`} above={above} />
        {trouble === null ? <Waiting /> : <TroubleBox trouble={trouble} />}
      </>
    );
  return (
    <>
      <Head title={job.name} above={above}>
        <ListMark trouble={trouble} />
        <QueueJobActions job={job} onDone={reload} />
      </Head>
      {/* What was deleted is not found any more: the last that was known stays, with that word. */}
      <TroubleBox trouble={trouble} />
      <Summary job={job} />
      <div class="columns">
        <Card title="Timeline">
          <Timeline job={job} />
        </Card>
        <div class="stack">
          <About job={job} />
          <Card title="Data">
            <pre class="data" tabIndex={0}>
              {dataTextOf(job)}
            </pre>
          </Card>
          <Result job={job} />
        </div>
      </div>
      <Card title="Runs that have ended">
        <Table
          caption="Runs that have ended"
          columns={RUNS}
          rows={job.runs}
          keyOf={({ ended, started }) => `${ended} ${started ?? ""}`}
          empty="None has ended yet, or the archive has let them go."
        />
      </Card>
    </>
  );
}

interface JobProps {
  readonly job: QueuedJobDetail;
}

const Summary = ({ job }: JobProps) => (
  <section class="card lead" aria-label="How it stands">
    <p>
      <State of={job.state} />{" "}
      {job.owner === "" ? null : (
        <span class="quiet">
          {job.state === "RUNNING" || job.state === "RUNQUEUED" ? "in hand of" : "last in hand of"} {job.owner}
        </span>
      )}
      {job.step === "" ? null : <span class="quiet"> · {job.step}</span>}
    </p>
    {job.reoffers > 0 ? <p class="note warn">Its workers lost it {job.reoffers} × in this run.</p> : null}
    {job.unreadable === null ? null : (
      <>
        <p class="note warn">
          Its record in ZooKeeper cannot be read ({job.unreadable.problem}). This page shows what could be saved of it.
          Requeue it to run it with these fields, or delete it.
        </p>
        <pre class="wrap">{job.unreadable.bytes}</pre>
      </>
    )}
  </section>
);

const About = ({ job }: JobProps) => (
  <Card title="About">
    <Facts
      rows={[
        ["Job", <Id>{String(job.jobID)}</Id>],
        ["Type", <code class="wrap">{job.name}</code>],
        ["Priority", String(job.priority)],
        ["Next run", <When job={job} />],
        ["Last run", job.lastRun === null ? null : <Time at={job.lastRun} />],
        ["Repeats", job.repeat === "" ? null : <Repeats repeat={job.repeat} />],
        ["Retried after", job.retryAfter],
        ["Taken", job.retryAfterCount === 0 ? null : `${job.retryAfterCount} ×`],
        ["At most", job.maxRunTime === null ? null : duration(job.maxRunTime / 1_000)],
        ["Then", job.onFinish],
        ["Only one", job.unique ? "of its type" : null],
        ["Parent", job.parentJobID === null ? null : <JobLink job={job} id={job.parentJobID} />],
        ["Children", job.children.length === 0 ? null : <Children job={job} />],
        ["Created", <Time at={job.created} />],
      ]}
    />
  </Card>
);

const JobLink = ({ job: { tenant }, id }: JobProps & { readonly id: number }) => (
  <Link to={jobAddress({ tenant, jobID: id })}>{id}</Link>
);

const CHILDREN_SHOWN = 50;

const Children = ({ job }: JobProps) => (
  <>
    {job.children.slice(0, CHILDREN_SHOWN).map((id) => (
      <span key={id}>
        <JobLink job={job} id={id} />{" "}
      </span>
    ))}
    {job.children.length > CHILDREN_SHOWN ? `… ${job.children.length} in all` : ""}
  </>
);

function Timeline({ job: { events } }: JobProps) {
  if (events.length === 0) return <Nothing>Nothing is known of its way any more.</Nothing>;
  return (
    <ol class="timeline">
      {events.map(({ at, what, by }, i) => {
        const before = events[i - 1];
        const seconds = before === undefined ? 0 : (Date.parse(at) - Date.parse(before.at)) / 1_000;
        return (
          <li key={`${at} ${i}`} class={toneOfQueueEvent(what)}>
            <p>
              <strong>{wordsOfQueueEvent(what)}</strong>
              {by === "" ? "" : ` by ${by}`}
            </p>
            <p class="quiet">
              <Time at={at} />
              {seconds >= 1 ? ` · ${duration(seconds)} after the step before` : ""}
            </p>
          </li>
        );
      })}
    </ol>
  );
}

function Result({ job: { tenant, jobID, result_bytes, exit, code } }: JobProps) {
  const { value, trouble } = useAnswer(
    JOBS.jobResult,
    { params: { tenant, id: jobID } },
    { when: result_bytes !== null && result_bytes <= SHOWN_BYTES },
  );
  if (result_bytes === null && exit === null) return null;
  return (
    <Card title="Result of the last run" aside={<Exit exit={exit} code={code} />}>
      <TroubleBox trouble={trouble} />
      {result_bytes === null ? <Nothing>It left none.</Nothing> : null}
      {(result_bytes ?? 0) > SHOWN_BYTES ? (
        <p>
          {bytes(result_bytes ?? 0)}:{" "}
          <a href={`/v1/queue/tenants/${encodeURIComponent(tenant)}/jobs/${jobID}/result`}>open it</a>
        </p>
      ) : null}
      {value?.result == null ? null : (
        <pre class="data" tabIndex={0}>
          {pretty(value.result)}
        </pre>
      )}
    </Card>
  );
}

const SHOWN_BYTES = 100_000;

function pretty(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

const RUNS: readonly Column<JobRun>[] = [
  { name: "Ended", cell: ({ ended }) => <Time at={ended} />, by: ({ ended }) => ended },
  { name: "Outcome", cell: ({ outcome }) => outcome },
  { name: "Exit", cell: ({ exit, code }) => <Exit exit={exit} code={code} /> },
  {
    name: "Took",
    numeric: true,
    cell: ({ started, ended }) =>
      started === null ? "–" : duration((Date.parse(ended) - Date.parse(started)) / 1_000),
  },
  { name: "Worker", cell: ({ owner }) => <code class="wrap">{owner}</code> },
  { name: "Result", wide: true, cell: ({ result }) => <span class="clip">{result ?? ""}</span> },
];
