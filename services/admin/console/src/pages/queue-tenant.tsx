import { JOBS, type QueuedJob, type QueueType } from "@sluice/wire";
import { useState } from "preact/hooks";
import { call } from "../api.ts";
import { count } from "../format.ts";
import { useList } from "../list.ts";
import { useAnswer } from "../load.ts";
import { NewJob } from "../queue/new-job.tsx";
import { Counts, jobAddress, Repeats, useMayAct, When } from "../queue/parts.tsx";
import { Rate } from "../queue/rate.tsx";
import { go, Link, type Place, withQuery } from "../router.tsx";
import { Card, Head, ListMark, State, Time, TroubleBox } from "../ui/bits.tsx";
import { Choice } from "../ui/filters.tsx";
import { Pager } from "../ui/pages.tsx";
import { type Column, Table } from "../ui/table.tsx";

const STATES = ["QUEUED", "RUNNING", "RUNQUEUED", "PAUSED", "FINISHED", "FAILED", "CANCELLED"];
const LIMIT = 50;

interface QueueTenantProps {
  readonly tenant: string;
  readonly place: Place;
}

export function QueueTenant({ tenant, place }: QueueTenantProps) {
  const mayAct = useMayAct();
  const [making, setMaking] = useState(false);
  const wish = (name: string): string | undefined => place.query.get(name) ?? undefined;
  const query = { state: wish("state"), name: wish("name"), repeating: wish("repeating") };
  const list = useList<QueuedJob>(JSON.stringify([tenant, query]), place.query.get("cursor"), (cursor, signal) =>
    // From lists of our own, or from the address: a wrong one is refused in words.
    call(JOBS.listJobs, { params: { tenant }, query: { ...query, cursor, limit: LIMIT } as never, signal }),
  );
  return (
    <>
      <Head title={tenant} above={<Link to="/queues">Queues</Link>}>
        <ListMark trouble={list.trouble} />
        {mayAct(tenant) ? (
          <button type="button" class="primary" onClick={() => setMaking(true)}>
            New job
          </button>
        ) : null}
      </Head>
      <Types tenant={tenant} />
      <div class="filters">
        <NamePattern place={place} />
        <Choice place={place} name="state" label="State" all="Any state" options={STATES} />
        <Choice
          place={place}
          name="repeating"
          label="Repeating"
          all="Repeating or not"
          options={["true", "false"]}
          words={{ true: "Repeating", false: "Not repeating" }}
        />
      </div>
      <TroubleBox trouble={list.trouble} />
      <Table
        caption={`Jobs of ${tenant}`}
        columns={COLUMNS}
        rows={list.items ?? (list.trouble === null ? null : [])}
        keyOf={({ jobID }) => String(jobID)}
        empty="No job is like this."
      />
      <Pager place={place} next={list.next} />
      {making ? <NewJob tenant={tenant} onClose={() => setMaking(false)} onDone={list.reload} /> : null}
    </>
  );
}

function Types({ tenant }: { readonly tenant: string }) {
  const types = useAnswer(JOBS.listTypes, { params: { tenant } }, { everyMs: 3_000 });
  return (
    <Card title="Types" aside={<Rate tenant={tenant} />}>
      <Table
        caption={`Types of ${tenant}`}
        columns={typeColumns(tenant)}
        rows={types.value?.items ?? (types.trouble === null ? null : [])}
        keyOf={({ name }) => name}
        empty="This tenant has no job."
      />
    </Card>
  );
}

const typeColumns = (tenant: string): readonly Column<QueueType>[] => [
  {
    name: "Type",
    cell: ({ name }) => (
      <Link to={`/queues/${encodeURIComponent(tenant)}?name=${encodeURIComponent(name)}`}>
        <strong class="wrap">{name}</strong>
      </Link>
    ),
    by: ({ name }) => name,
  },
  { name: "Jobs", cell: ({ counts, name }) => <Counts counts={counts} tenant={tenant} name={name} /> },
  { name: "Ready", numeric: true, cell: ({ ready }) => count(ready), by: ({ ready }) => ready },
  { name: "Oldest due", cell: ({ oldest_due }) => <Time at={oldest_due} />, by: ({ oldest_due }) => oldest_due ?? "" },
];

function NamePattern({ place }: { readonly place: Place }) {
  const shown = place.query.get("name") ?? "";
  return (
    <form
      class="search"
      role="search"
      onSubmit={(event) => {
        event.preventDefault();
        const typed = new FormData(event.currentTarget).get("name");
        go(withQuery(place, { name: typeof typed === "string" ? typed.trim() : "" }));
      }}
    >
      <input
        key={shown}
        type="search"
        name="name"
        aria-label="Type of the jobs"
        placeholder="Type; * and ? stand for anything  ( / )"
        defaultValue={shown}
      />
    </form>
  );
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
          <code>{job.jobID}</code>
        </div>
      </>
    ),
    by: ({ name }) => name,
  },
  { name: "State", cell: ({ state }) => <State of={state} />, by: ({ state }) => state },
  { name: "Next run", cell: (job) => <When job={job} />, by: ({ nextRun }) => nextRun ?? "" },
  { name: "Last run", cell: ({ lastRun }) => <Time at={lastRun} />, by: ({ lastRun }) => lastRun ?? "" },
  { name: "Repeats", cell: ({ repeat }) => <Repeats repeat={repeat} /> },
  { name: "Priority", numeric: true, cell: ({ priority }) => priority, by: ({ priority }) => priority },
  { name: "Created", cell: ({ created }) => <Time at={created} />, by: ({ created }) => created },
];
