import type { JobSummary } from "@sluice/wire";
import { bytes, sentence, withoutCode } from "../format.ts";
import { Link } from "../router.tsx";
import { useModel } from "../session.tsx";
import { State, Time } from "../ui/bits.tsx";
import type { Column } from "../ui/table.tsx";

export const nameOfJob = ({ payload_name, title, local_id, jid }: JobSummary): string =>
  payload_name ?? title ?? local_id[0] ?? jid;

/** Why it stands where it stands, in words: what went wrong and what to do, or what it waits for. */
export function WhyOf({ job }: { readonly job: JobSummary }) {
  const error = useModel().errors.find(({ code }) => code === job.error_code);
  if (job.remedy !== null)
    return (
      <>
        <div class="clip" title={job.message}>
          {error === undefined ? "" : `${sentence(error.says)}: `}
          {withoutCode(job.message, job.error_code)}
        </div>
        <div class="quiet">To do: {job.remedy}</div>
      </>
    );
  if (job.waiting_for !== null) return <span class="quiet">waits: {job.waiting_for}</span>;
  if (job.working_on_it !== null) return <span class="quiet">in hand of {job.working_on_it}</span>;
  return job.message === "" ? null : <span class="clip">{job.message}</span>;
}

const JOB: Column<JobSummary> = {
  name: "Job",
  cell: (job) => (
    <>
      <Link to={`/jobs/${job.jid}`}>
        <strong>{nameOfJob(job)}</strong>
      </Link>
      <div class="quiet">
        <code>{job.jid}</code>
      </div>
    </>
  ),
  by: nameOfJob,
};
const STATE: Column<JobSummary> = {
  name: "State",
  cell: ({ status }) => <State of={status} />,
  by: ({ status }) => status,
};
const WHY: Column<JobSummary> = { name: "What happens", wide: true, cell: (job) => <WhyOf job={job} /> };
const CHANGED: Column<JobSummary> = {
  name: "Changed",
  cell: ({ last_modified }) => <Time at={last_modified} />,
  by: ({ last_modified }) => last_modified ?? "",
};
const SIZE: Column<JobSummary> = {
  name: "Size",
  numeric: true,
  cell: ({ space_needed }) => (space_needed === null || space_needed === 0 ? "–" : bytes(space_needed)),
  by: ({ space_needed }) => space_needed ?? 0,
};

export const BATCH_JOB_COLUMNS: readonly Column<JobSummary>[] = [JOB, STATE, WHY, SIZE, CHANGED];

export const JOB_COLUMNS: readonly Column<JobSummary>[] = [
  {
    ...JOB,
    cell: (job) => (
      <>
        {JOB.cell(job)}
        <div class="quiet wrap">{job.profile}</div>
      </>
    ),
  },
  STATE,
  WHY,
  {
    name: "Priority",
    numeric: true,
    cell: ({ priority }) => (priority === null ? "–" : String(priority).padStart(2, "0")),
    by: ({ priority }) => priority ?? 0,
  },
  SIZE,
  CHANGED,
];
