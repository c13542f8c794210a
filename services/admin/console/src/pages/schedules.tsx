import { JOBS, type QueuedJob } from "@sluice/wire";
import { useEffect, useState } from "preact/hooks";
import { call, type Trouble, troubleOf } from "../api.ts";
import { useAnswer } from "../load.ts";
import { QueueJobActions } from "../queue/job-actions.tsx";
import { Exit, jobAddress, Repeats, When } from "../queue/parts.tsx";
import { Link, type Place } from "../router.tsx";
import { Head, ListMark, State, Time, TroubleBox } from "../ui/bits.tsx";
import { Choice } from "../ui/filters.tsx";
import { type Column, Table } from "../ui/table.tsx";

const EVERY_MS = 5_000;
/** Of each tenant; who has more looks at that tenant's own page. */
const LIMIT = 100;

export function Schedules({ place }: { readonly place: Place }) {
  const tenants = useAnswer(JOBS.listTenants, {}, { everyMs: EVERY_MS });
  const names = (tenants.value?.items ?? []).map(({ tenant }) => tenant);
  const wanted = place.query.get("tenant");
  const { jobs, trouble } = useRepeating(
    names.filter((name) => wanted === null || name === wanted),
    tenants.value !== null,
  );
  const worst = tenants.trouble ?? trouble;
  return (
    <>
      <Head title="Schedules">
        <ListMark trouble={worst} />
      </Head>
      <div class="filters">
        <Choice place={place} name="tenant" label="Tenant" all="Any tenant" options={names} />
      </div>
      <TroubleBox trouble={worst} />
      <Table
        caption="Jobs that repeat"
        columns={COLUMNS}
        rows={jobs ?? (worst === null ? null : [])}
        keyOf={({ tenant, jobID }) => `${tenant} ${jobID}`}
        empty="No job repeats."
      />
    </>
  );
}

interface Repeating {
  readonly jobs: readonly QueuedJob[] | null;
  readonly trouble: Trouble | null;
}

/** Of each tenant its own list: nobody has one of all. */
function useRepeating(tenants: readonly string[], known: boolean): Repeating {
  const [found, setFound] = useState<Repeating>({ jobs: null, trouble: null });
  const key = tenants.join(" ");
  useEffect(() => {
    if (!known) return undefined;
    const stop = new AbortController();
    let timer: number | undefined;
    const look = async (): Promise<void> => {
      const answers = await Promise.all(
        tenants.map((tenant) =>
          call(JOBS.listJobs, { params: { tenant }, query: { repeating: "true", limit: LIMIT }, signal: stop.signal }),
        ),
      );
      if (stop.signal.aborted) return;
      const failed = answers.find((answer) => !answer.ok);
      setFound({
        jobs: answers.flatMap((answer) => (answer.ok ? answer.value.items : [])),
        trouble: failed === undefined ? null : troubleOf(failed),
      });
      timer = window.setTimeout(() => void look(), EVERY_MS);
    };
    void look();
    return () => {
      stop.abort();
      clearTimeout(timer);
    };
  }, [key, known]);
  return found;
}

const COLUMNS: readonly Column<QueuedJob>[] = [
  {
    name: "Job",
    cell: (job) => (
      <>
        <Link to={jobAddress(job)}>
          <strong class="wrap">{job.name}</strong>
        </Link>
        <div class="quiet">
          {job.tenant} · <code>{job.jobID}</code>
        </div>
      </>
    ),
    by: ({ name }) => name,
  },
  { name: "Repeats", cell: ({ repeat }) => <Repeats repeat={repeat} /> },
  { name: "State", cell: ({ state }) => <State of={state} />, by: ({ state }) => state },
  { name: "Next run", cell: (job) => <When job={job} />, by: ({ nextRun }) => nextRun ?? "" },
  { name: "Last run", cell: ({ lastRun }) => <Time at={lastRun} />, by: ({ lastRun }) => lastRun ?? "" },
  { name: "Last exit and actions", cell: (job) => <Row job={job} /> },
];

/** A list has no data of its jobs, and changing one takes them. */
function Row({ job: { tenant, jobID } }: { readonly job: QueuedJob }) {
  const { value, reload } = useAnswer(JOBS.describeJob, { params: { tenant, id: jobID } }, { everyMs: EVERY_MS });
  if (value === null) return <span class="quiet">…</span>;
  return (
    <div class="tools">
      <Exit exit={value.exit} code={value.code} />
      <QueueJobActions job={value} onDone={reload} />
    </div>
  );
}
