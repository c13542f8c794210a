import { ADMIN, type JobDetail } from "@sluice/wire";
import { JobActions } from "../actions/job-actions.tsx";
import { bytes, withoutCode } from "../format.ts";
import { useAnswer, useLive } from "../load.ts";
import { Link } from "../router.tsx";
import { useModel, useSession } from "../session.tsx";
import {
  Badge,
  Card,
  Facts,
  Head,
  Hold,
  Id,
  LiveMark,
  Nothing,
  Progress,
  State,
  Time,
  TroubleBox,
  Waiting,
} from "../ui/bits.tsx";
import { Table } from "../ui/table.tsx";
import { toneOfLevel } from "../ui/tones.ts";
import { nameOfJob } from "./job-columns.tsx";
import { RawNodes } from "./raw-nodes.tsx";
import { Timeline } from "./timeline.tsx";
import { Told } from "./told.tsx";

export function Job({ id }: { readonly id: string }) {
  const { can } = useSession();
  const { value: live, trouble, line, reload } = useLive(ADMIN.jobEvents, ADMIN.job, { params: { id } });
  // Its stream ends with the job; callback and mails come after that.
  const after = useAnswer(ADMIN.job, { params: { id } }, { everyMs: 10_000, when: line === "over" });
  const job = (line === "over" ? after.value : null) ?? live;
  if (job === null) return trouble === null ? <Waiting /> : <TroubleBox trouble={trouble} />;
  const above = (
    <>
      <Link to="/jobs">Jobs</Link>
      {job.bid === null ? null : (
        <>
          {" · "}
          <Link to={`/batches/${job.bid}`}>{job.bid}</Link>
        </>
      )}
    </>
  );
  return (
    <>
      <Head title={nameOfJob(job)} above={above}>
        <LiveMark line={line} />
        <JobActions job={job} onDone={reload} />
      </Head>
      <TroubleBox trouble={trouble} />
      <Summary job={job} />
      <div class="columns">
        <Card title="Timeline">
          <Timeline job={job} />
        </Card>
        <div class="stack">
          <About job={job} />
          <Files job={job} />
          <Told job={job} />
        </div>
      </div>
      {can(ADMIN.jobLogs) ? <Logs id={job.jid} /> : null}
      {can(ADMIN.node) && !job.archived ? <RawNodes path={`/jobs/${job.jid}`} /> : null}
    </>
  );
}

interface JobProps {
  readonly job: JobDetail;
}

function Summary({ job }: JobProps) {
  const model = useModel();
  const says = model.job_states.find(({ state }) => state === job.status)?.says ?? "";
  const error = model.errors.find(({ code }) => code === job.error_code);
  return (
    <section class="card lead" aria-label="How it stands">
      <p>
        <State of={job.status} /> <span class="quiet">{says}</span>
      </p>
      {job.progress === null ? null : (
        <div class="progress">
          <Progress done={job.progress.done_bytes} total={job.progress.total_bytes} label="Bytes downloaded" />
          <span class="quiet">
            {bytes(job.progress.done_bytes)}
            {job.progress.total_bytes === null ? "" : ` of ${bytes(job.progress.total_bytes)}`}
            {job.progress.note === null ? "" : ` · ${job.progress.note}`}
          </span>
        </div>
      )}
      {job.message === "" || error !== undefined ? null : <p>{job.message}</p>}
      {error === undefined ? null : (
        <p class="note bad">
          <strong>What happened:</strong> {error.says} (<code>{error.code}</code>):{" "}
          {withoutCode(job.message, error.code)}
          <br />
          <strong>What to do:</strong> {error.remedy}
        </p>
      )}
      {job.waiting_for === null ? null : (
        <p class="note">
          It waits: {job.waiting_for}
          {job.not_before === null ? null : (
            <>
              {" "}
              (again <Time at={job.not_before} />)
            </>
          )}
        </p>
      )}
      {job.hold === null ? null : (
        <p class="note warn">
          <Hold hold={job.hold} what={`Collection ${job.profile} is held`} />
        </p>
      )}
      {job.archived ? (
        <p class="note">
          It left the queue <Time at={job.archived_at} />: this is what the archive knows.
        </p>
      ) : null}
    </section>
  );
}

const About = ({ job }: JobProps) => (
  <Card title="Identifiers and content">
    <Facts
      rows={[
        ["Job", <Id>{job.jid}</Id>],
        ["Id", <Id>{job.id}</Id>],
        ["ARK", job.primary_id === null ? null : <Id>{job.primary_id}</Id>],
        ["Local ids", job.local_id.length === 0 ? null : <Id>{job.local_id.join("; ")}</Id>],
        ["Title", job.title],
        ["Creator", job.creator],
        ["Date", job.date],
        ["Collection", job.profile],
        ["Submitter", job.submitter],
        ["Type", job.type],
        ["Payload", job.payload_url],
        ["Space", job.space_needed === null || job.space_needed === 0 ? null : bytes(job.space_needed)],
        ["Priority", job.priority === null ? null : String(job.priority).padStart(2, "0")],
        ["Resumed", job.retry_count === 0 ? null : `${job.retry_count} ×`],
        ["Last success", job.last_successful_status],
      ]}
    />
  </Card>
);

function Files({ job }: JobProps) {
  const files = useAnswer(ADMIN.jobFiles, { params: { id: job.jid } }, { everyMs: 10_000, when: !job.archived });
  const items = files.value?.items ?? null;
  return (
    <Card title="Files in the working folder">
      {job.archived ? (
        <Nothing>Its folder was cleared when it ended.</Nothing>
      ) : (
        <>
          <TroubleBox trouble={files.trouble} />
          <Table
            caption="Files in the working folder"
            rows={files.trouble === null ? items : []}
            keyOf={({ path }) => path}
            empty="None: not there yet, or cleared already."
            columns={[
              { name: "File", cell: ({ path }) => <code class="wrap">{path}</code>, by: ({ path }) => path },
              { name: "Size", cell: (file) => bytes(file.bytes), by: (file) => file.bytes, numeric: true },
              { name: "Modified", cell: ({ modified }) => <Time at={modified} />, by: ({ modified }) => modified },
            ]}
          />
          {files.value?.truncated === true ? <p class="quiet">There are more.</p> : null}
        </>
      )}
    </Card>
  );
}

function Logs({ id }: { readonly id: string }) {
  const { value, trouble } = useAnswer(ADMIN.jobLogs, { params: { id } }, { everyMs: 10_000 });
  return (
    <Card title="Logs">
      <TroubleBox trouble={trouble} />
      {value?.note == null ? null : <p class="quiet">{value.note}</p>}
      {value === null ? null : (
        <ul class="logs">
          {value.items.map(({ at, level, service, message, raw }, i) => (
            <li key={i} title={raw}>
              <Time at={at} /> <Badge tone={toneOfLevel(level)}>{level}</Badge> <strong>{service}</strong> {message}
            </li>
          ))}
        </ul>
      )}
    </Card>
  );
}
