import { ADMIN, type StageView, type WorkerView } from "@sluice/wire";
import { SwitchButton } from "../actions/switch-button.tsx";
import { call } from "../api.ts";
import { bytes, count, duration } from "../format.ts";
import { useAnswer } from "../load.ts";
import { Link } from "../router.tsx";
import { useSession } from "../session.tsx";
import { Badge, Card, Head, Hold, ListMark, Time, TroubleBox } from "../ui/bits.tsx";
import { type Column, Table } from "../ui/table.tsx";

const EVERY = { everyMs: 3_000 };

export function Workers() {
  const stages = useAnswer(ADMIN.stages, {}, EVERY);
  const workers = useAnswer(ADMIN.workers, {}, EVERY);
  return (
    <>
      <Head title="Workers and stages">
        <ListMark trouble={stages.trouble ?? workers.trouble} />
      </Head>
      <Card title="Stages">
        <TroubleBox trouble={stages.trouble} />
        <Table
          caption="Stages and their queues"
          columns={[...STAGE_COLUMNS, ...useStageActions(stages.reload)]}
          rows={stages.value?.items ?? null}
          keyOf={({ stage }) => stage}
          empty="There is no stage."
        />
      </Card>
      <Card title="Workers">
        <TroubleBox trouble={workers.trouble} />
        <Table
          caption="Workers and what they have in hand"
          columns={[...WORKER_COLUMNS, ...useWorkerActions(workers.reload)]}
          rows={workers.value?.items ?? null}
          keyOf={({ id, stage }) => `${stage} ${id}`}
          empty="No worker is running: nothing moves."
        />
      </Card>
    </>
  );
}

function health({ workers, waiting, paused }: StageView) {
  if (paused !== null) return <Badge tone="warn">paused</Badge>;
  if (workers === 0) return <Badge tone={waiting > 0 ? "bad" : "idle"}>no worker</Badge>;
  return <Badge tone="good">works</Badge>;
}

const STAGE_COLUMNS: readonly Column<StageView>[] = [
  {
    name: "Stage",
    cell: ({ stage, state }) => (
      <>
        <strong>{stage}</strong>
        {state === null ? null : (
          <div class="quiet">
            takes <Link to={`/jobs?state=${state}`}>{state}</Link>
          </div>
        )}
      </>
    ),
    by: ({ stage }) => stage,
  },
  {
    name: "Health",
    cell: (stage) => (
      <>
        {health(stage)}
        {stage.paused === null ? null : (
          <div class="quiet">
            <Hold hold={stage.paused} what="" />
          </div>
        )}
      </>
    ),
  },
  { name: "Waiting", numeric: true, cell: ({ waiting }) => count(waiting), by: ({ waiting }) => waiting },
  {
    name: "Ready",
    numeric: true,
    cell: ({ ready, exact }) => `${exact ? "" : "≈ "}${count(ready)}`,
    by: ({ ready }) => ready,
  },
  {
    name: "Oldest ready",
    numeric: true,
    cell: ({ oldest_ready_seconds: seconds }) => (seconds === 0 ? "–" : duration(seconds)),
    by: ({ oldest_ready_seconds }) => oldest_ready_seconds,
  },
  { name: "Workers", numeric: true, cell: ({ workers }) => count(workers), by: ({ workers }) => workers },
  { name: "In hand", numeric: true, cell: ({ in_hand }) => count(in_hand), by: ({ in_hand }) => in_hand },
];

function useStageActions(onDone: () => void): readonly Column<StageView>[] {
  const { can } = useSession();
  if (!can(ADMIN.stageAction)) return [];
  return [
    {
      name: "Actions",
      cell: ({ stage, paused }) => (
        <SwitchButton
          what={stage}
          hold={paused}
          verbs={{ hold: "Pause", release: "Resume" }}
          says={{
            hold: "Its workers finish current jobs and claim no more.",
            release: "Its workers claim jobs again.",
          }}
          word={stage}
          send={(body) => call(ADMIN.stageAction, { params: { stage }, body })}
          onDone={onDone}
        />
      ),
    },
  ];
}

const JOBS_SHOWN = 4;

const WORKER_COLUMNS: readonly Column<WorkerView>[] = [
  { name: "Stage", cell: ({ stage }) => stage, by: ({ stage }) => stage },
  {
    name: "Worker",
    cell: ({ id, host, pid }) => (
      <>
        <code class="wrap">{id}</code>
        <div class="quiet">
          {host}, process {pid}
        </div>
      </>
    ),
    by: ({ id }) => id,
  },
  {
    name: "In hand",
    cell: ({ jobs, concurrency }) => (
      <>
        {count(jobs.length)} of {count(concurrency)}
        <div class="quiet">
          {jobs.slice(0, JOBS_SHOWN).map((id) => (
            <span key={id}>
              <Link to={`/jobs/${id}`}>{id}</Link>{" "}
            </span>
          ))}
          {jobs.length > JOBS_SHOWN ? "…" : ""}
        </div>
      </>
    ),
    by: ({ jobs }) => jobs.length,
  },
  {
    name: "Draining",
    cell: ({ draining }) =>
      draining === null ? <span class="quiet">no</span> : <Hold hold={draining} what="drained" />,
  },
  {
    name: "Memory",
    numeric: true,
    cell: ({ memory_bytes }) => bytes(memory_bytes),
    by: ({ memory_bytes }) => memory_bytes,
  },
  {
    name: "CPU",
    numeric: true,
    cell: ({ cpu_seconds }) => duration(cpu_seconds),
    by: ({ cpu_seconds }) => cpu_seconds,
  },
  { name: "Version", cell: ({ version }) => version },
  { name: "Since", cell: ({ since }) => <Time at={since} />, by: ({ since }) => since ?? "" },
];

function useWorkerActions(onDone: () => void): readonly Column<WorkerView>[] {
  const { can } = useSession();
  if (!can(ADMIN.workerAction)) return [];
  return [
    {
      name: "Actions",
      cell: ({ id, draining }) => (
        <SwitchButton
          what={id}
          hold={draining}
          verbs={{ hold: "Drain", release: "Undrain" }}
          says={{
            hold: "It finishes its current jobs and claims no more; then it can be stopped.",
            release: "It claims jobs again.",
          }}
          word={id}
          send={(body) => call(ADMIN.workerAction, { params: { id }, body })}
          onDone={onDone}
        />
      ),
    },
  ];
}
