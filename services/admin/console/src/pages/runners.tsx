import { JOBS, type JobWorker } from "@sluice/wire";
import { useState } from "preact/hooks";
import { ActionDialog } from "../actions/action-dialog.tsx";
import { call } from "../api.ts";
import { many } from "../format.ts";
import { useAnswer } from "../load.ts";
import { useSession } from "../session.tsx";
import { Head, ListMark, State, Time, TroubleBox } from "../ui/bits.tsx";
import { type Column, Table } from "../ui/table.tsx";

export function Runners() {
  const { can } = useSession();
  const workers = useAnswer(JOBS.listWorkers, {}, { everyMs: 3_000 });
  const [releasing, setReleasing] = useState<JobWorker | null>(null);
  const actions: readonly Column<JobWorker>[] = can(JOBS.releaseWorker)
    ? [
        {
          name: "Actions",
          cell: (worker) => (
            <button
              type="button"
              class="danger quietly"
              aria-label={`Release the jobs of ${worker.Name}`}
              onClick={() => setReleasing(worker)}
            >
              Release its jobs
            </button>
          ),
        },
      ]
    : [];
  return (
    <>
      <Head title="Runners">
        <ListMark trouble={workers.trouble} />
      </Head>
      <TroubleBox trouble={workers.trouble} />
      <Table
        caption="Those who run jobs"
        columns={[...COLUMNS, ...actions]}
        rows={workers.value?.items ?? (workers.trouble === null ? null : [])}
        keyOf={({ Name }) => Name}
        empty="Nobody has registered: handlers are not run, and the fleet's own jobs wait."
      />
      {releasing === null ? null : (
        <ActionDialog
          title={`Release the jobs of ${releasing.Name}`}
          says="Every job that it has goes back into the queue at once. If it lives, it is told that they are no longer its own."
          verb="Release"
          word={releasing.Name}
          danger
          onDone={workers.reload}
          onClose={() => setReleasing(null)}
          send={async ({ reason }) => {
            const answer = await call(JOBS.releaseWorker, { params: { worker: releasing.Name }, query: { reason } });
            if (!answer.ok) return answer;
            return { ...answer, value: { message: `${many(answer.value.jobIDs.length, "job")} released` } };
          }}
        />
      )}
    </>
  );
}

const COLUMNS: readonly Column<JobWorker>[] = [
  {
    name: "Runner",
    cell: ({ Name, InstanceId, PrivateIp, PublicIp }) => (
      <>
        <code class="wrap">{Name}</code>
        <div class="quiet">{[InstanceId, PrivateIp, PublicIp].filter((each) => each !== "").join(" · ")}</div>
      </>
    ),
    by: ({ Name }) => Name,
  },
  { name: "Status", cell: ({ Status }) => <State of={Status} />, by: ({ Status }) => Status },
  { name: "Job", cell: ({ Job }) => (Job === "" ? <span class="quiet">idle</span> : <code>{Job}</code>) },
  { name: "Heartbeat", cell: ({ Heartbeat }) => <Time at={Heartbeat} />, by: ({ Heartbeat }) => Heartbeat },
  { name: "CPU", numeric: true, cell: ({ Stats }) => Stats.Cpu.toFixed(2), by: ({ Stats }) => Stats.Cpu },
  { name: "Memory", numeric: true, cell: ({ Stats }) => Stats.Mem.toFixed(2), by: ({ Stats }) => Stats.Mem },
];
