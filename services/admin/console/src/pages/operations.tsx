import { ADMIN, type OperationView } from "@sluice/wire";
import { useState } from "preact/hooks";
import { ActionDialog } from "../actions/action-dialog.tsx";
import { jobWords } from "../actions/words.ts";
import { call } from "../api.ts";
import { count, many } from "../format.ts";
import { useAnswer, useLive } from "../load.ts";
import { Link } from "../router.tsx";
import { useSession } from "../session.tsx";
import {
  Badge,
  Card,
  Facts,
  Head,
  Id,
  ListMark,
  LiveMark,
  Nothing,
  Progress,
  Time,
  TroubleBox,
  Waiting,
} from "../ui/bits.tsx";
import { type Column, Table } from "../ui/table.tsx";
import type { Tone } from "../ui/tones.ts";

const TONES: Readonly<Record<OperationView["state"], Tone>> = {
  running: "active",
  done: "good",
  stopped: "warn",
  failed: "bad",
};

const refusedOf = ({ refused }: OperationView): number => refused.reduce((sum, { count: n }) => sum + n, 0);

const titleOf = ({ action, total }: OperationView): string => `${jobWords(action).label} ${many(total, "job")}`;

const COLUMNS: readonly Column<OperationView>[] = [
  {
    name: "Operation",
    cell: (operation) => <Link to={`/operations/${encodeURIComponent(operation.id)}`}>{titleOf(operation)}</Link>,
  },
  { name: "State", cell: ({ state }) => <Badge tone={TONES[state]}>{state}</Badge>, by: ({ state }) => state },
  { name: "Done", numeric: true, cell: ({ applied }) => count(applied), by: ({ applied }) => applied },
  { name: "Refused", numeric: true, cell: (operation) => count(refusedOf(operation)), by: refusedOf },
  { name: "By", cell: ({ by }) => by, by: ({ by }) => by },
  { name: "Reason", cell: ({ reason }) => reason },
  { name: "Started", cell: ({ started }) => <Time at={started} />, by: ({ started }) => started },
];

export function Operations() {
  const { value, trouble } = useAnswer(ADMIN.operations, {}, { everyMs: 3_000 });
  return (
    <>
      <Head title="Operations" above={<Link to="/jobs">Jobs</Link>}>
        <ListMark trouble={trouble} />
      </Head>
      <TroubleBox trouble={trouble} />
      <Table
        caption="Actions on many jobs"
        columns={COLUMNS}
        rows={value?.items ?? null}
        keyOf={({ id }) => id}
        empty="Nobody has acted on many jobs at once lately. Set a filter on the jobs page to do so."
      />
    </>
  );
}

export function Operation({ id }: { readonly id: string }) {
  const {
    value: operation,
    trouble,
    line,
    reload,
  } = useLive(ADMIN.operationEvents, ADMIN.operation, { params: { id } });
  if (operation === null) return trouble === null ? <Waiting /> : <TroubleBox trouble={trouble} />;
  const handled = operation.applied + refusedOf(operation);
  return (
    <>
      <Head title={titleOf(operation)} above={<Link to="/operations">Operations</Link>}>
        <LiveMark line={line} />
        {operation.state === "running" ? <Stop id={id} onDone={reload} /> : null}
      </Head>
      <TroubleBox trouble={trouble} />
      <section class="card lead" aria-label="How far it is">
        <p>
          <Badge tone={TONES[operation.state]}>{operation.state}</Badge>
        </p>
        <div class="progress">
          <Progress done={handled} total={operation.total} label="Jobs handled" />
          <span class="quiet">
            {count(operation.applied)} done, {count(refusedOf(operation))} refused, of {count(operation.total)}
          </span>
        </div>
      </section>
      <div class="columns">
        <Card title="Refused, and why">
          {operation.refused.length === 0 ? (
            <Nothing>None.</Nothing>
          ) : (
            <ul class="failures">
              {operation.refused.map(({ why, count: n, example }) => (
                <li key={why}>
                  <Badge tone="bad">{count(n)} ×</Badge> {why} <span class="quiet">for example</span>{" "}
                  <Link to={`/jobs/${example}`}>{example}</Link>
                </li>
              ))}
            </ul>
          )}
        </Card>
        <Card title="About">
          <Facts
            rows={[
              ["Id", <Id>{operation.id}</Id>],
              ["By", operation.by],
              ["Reason", operation.reason],
              ["Started", <Time at={operation.started} />],
              ["Ended", operation.ended === null ? null : <Time at={operation.ended} />],
            ]}
          />
        </Card>
      </div>
    </>
  );
}

function Stop({ id, onDone }: { readonly id: string; readonly onDone: () => void }) {
  const { can } = useSession();
  const [asked, setAsked] = useState(false);
  if (!can(ADMIN.stopOperation)) return null;
  return (
    <>
      <button type="button" onClick={() => setAsked(true)}>
        Stop …
      </button>
      {asked ? (
        <ActionDialog
          title="Stop this operation"
          says="No further job is touched. What is done stays done."
          verb="Stop"
          word="stop"
          onDone={onDone}
          onClose={() => setAsked(false)}
          send={async ({ reason }) => {
            const answer = await call(ADMIN.stopOperation, { params: { id }, query: { reason } });
            return answer.ok ? { ...answer, value: { message: "Stopped: what is done stays done" } } : answer;
          }}
        />
      ) : null}
    </>
  );
}
