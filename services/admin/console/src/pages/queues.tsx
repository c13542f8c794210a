import { JOBS, type QueueTenant } from "@sluice/wire";
import { useState } from "preact/hooks";
import { count, duration } from "../format.ts";
import { useAnswer } from "../load.ts";
import { NewJob } from "../queue/new-job.tsx";
import { Counts, useMayAct } from "../queue/parts.tsx";
import { Rate } from "../queue/rate.tsx";
import { Link } from "../router.tsx";
import { Head, ListMark, Time, TroubleBox } from "../ui/bits.tsx";
import { type Column, Table } from "../ui/table.tsx";

const EVERY = { everyMs: 3_000 };

export function Queues() {
  const tenants = useAnswer(JOBS.listTenants, {}, EVERY);
  const mayAct = useMayAct();
  const [making, setMaking] = useState(false);
  return (
    <>
      <Head title="Queues">
        <ListMark trouble={tenants.trouble} />
        {mayAct("default") ? (
          <button type="button" class="primary" onClick={() => setMaking(true)}>
            New job
          </button>
        ) : null}
      </Head>
      <TroubleBox trouble={tenants.trouble} />
      <Table
        caption="Tenants of the job queue"
        columns={COLUMNS}
        rows={tenants.value?.items ?? (tenants.trouble === null ? null : [])}
        keyOf={({ tenant }) => tenant}
        empty="No tenant has a job."
      />
      {making ? <NewJob onClose={() => setMaking(false)} onDone={tenants.reload} /> : null}
    </>
  );
}

const COLUMNS: readonly Column<QueueTenant>[] = [
  {
    name: "Tenant",
    cell: ({ tenant }) => (
      <Link to={`/queues/${encodeURIComponent(tenant)}`}>
        <strong>{tenant}</strong>
      </Link>
    ),
    by: ({ tenant }) => tenant,
  },
  { name: "Jobs", cell: ({ counts, tenant }) => <Counts counts={counts} tenant={tenant} /> },
  {
    name: "Worker time",
    numeric: true,
    cell: ({ worker_seconds }) => (worker_seconds === null ? "–" : duration(worker_seconds)),
    by: ({ worker_seconds }) => worker_seconds ?? 0,
  },
  { name: "Ready", numeric: true, cell: ({ ready }) => count(ready), by: ({ ready }) => ready },
  {
    name: "Oldest due",
    cell: ({ oldest_due }) => <Time at={oldest_due} />,
    by: ({ oldest_due }) => oldest_due ?? "",
  },
  { name: "Ended lately", cell: ({ tenant }) => <Rate tenant={tenant} /> },
];
