import { ADMIN, type Finding, type FsckReport } from "@sluice/wire";
import { useState } from "preact/hooks";
import { ActionDialog } from "../actions/action-dialog.tsx";
import { SwitchButton } from "../actions/switch-button.tsx";
import { call, client, type Trouble, troubleOf } from "../api.ts";
import { count, duration, many } from "../format.ts";
import { useAnswer } from "../load.ts";
import { Link } from "../router.tsx";
import { useSession } from "../session.tsx";
import { Badge, Card, Head, Hold, Time, TroubleBox } from "../ui/bits.tsx";
import { Table } from "../ui/table.tsx";
import { nodePage } from "./raw-nodes.tsx";

export function Maintenance() {
  const { can } = useSession();
  return (
    <>
      <Head title="Maintenance" />
      <div class="columns">
        {can(ADMIN.queueAction) ? <Pause /> : null}
        {can(ADMIN.snapshot) ? <Snapshot /> : null}
      </div>
      {can(ADMIN.fsck) ? <Consistency /> : null}
      {can(ADMIN.node) ? (
        <Card title="Nodes">
          <p>
            The queue’s own nodes, as they are: <Link to={nodePage("/")}>browse them</Link>.
          </p>
        </Card>
      ) : null}
    </>
  );
}

function Pause() {
  const { value, trouble, reload } = useAnswer(ADMIN.overview, {}, { everyMs: 5_000 });
  return (
    <Card title="The whole queue">
      <TroubleBox trouble={trouble} />
      {value === null ? null : (
        <>
          <p>{value.queue_paused === null ? "Running." : <Hold hold={value.queue_paused} what="Paused" />}</p>
          <SwitchButton
            what="the whole queue"
            hold={value.queue_paused}
            verbs={{ hold: "Pause", release: "Resume" }}
            says={{
              hold: "Workers finish current jobs and claim no more. Submissions are still accepted.",
              release: "Every stage claims jobs again.",
            }}
            word="queue"
            send={(body) => call(ADMIN.queueAction, { body })}
            onDone={reload}
          />
        </>
      )}
    </Card>
  );
}

function Snapshot() {
  const [trouble, setTrouble] = useState<Trouble | null>(null);
  const [busy, setBusy] = useState(false);
  const take = async (): Promise<void> => {
    setBusy(true);
    const answer = await client.download(ADMIN.snapshot, {});
    setTrouble(answer.ok ? null : troubleOf(answer));
    if (answer.ok) await save(answer.value);
    setBusy(false);
  };
  return (
    <Card title="Snapshot">
      <p>The whole tree as a file, before a risky change. It is put back with the command line.</p>
      <button type="button" disabled={busy} onClick={() => void take()}>
        {busy ? "Taking it …" : "Download a snapshot"}
      </button>
      <TroubleBox trouble={trouble} />
    </Card>
  );
}

async function save(response: Response): Promise<void> {
  const named = /filename="?([^";]+)"?/.exec(response.headers.get("content-disposition") ?? "");
  const link = document.createElement("a");
  link.href = URL.createObjectURL(await response.blob());
  link.download = named?.[1] ?? `sluice-${new Date().toISOString().slice(0, 19).replaceAll(":", "")}.snapshot`;
  link.click();
  URL.revokeObjectURL(link.href);
}

function Consistency() {
  const { can } = useSession();
  const [report, setReport] = useState<FsckReport | null>(null);
  const [trouble, setTrouble] = useState<Trouble | null>(null);
  const [busy, setBusy] = useState(false);
  const [picked, pick] = useState<ReadonlySet<string>>(new Set());
  const [repairing, setRepairing] = useState(false);
  const check = async (): Promise<void> => {
    setBusy(true);
    const answer = await call(ADMIN.fsck, {});
    setBusy(false);
    setTrouble(answer.ok ? null : troubleOf(answer));
    if (answer.ok) setReport(answer.value);
    pick(new Set());
  };
  const mendable = report?.findings.filter(({ repair }) => repair !== null) ?? [];
  const chosen = mendable.filter(({ id }) => picked.size === 0 || picked.has(id));
  return (
    <Card
      title="Consistency"
      aside={
        <button type="button" disabled={busy} onClick={() => void check()}>
          {busy ? "Checking …" : "Check the tree"}
        </button>
      }
    >
      <TroubleBox trouble={trouble} />
      {report === null ? (
        <p class="quiet">Every rule of the tree is checked, from one moment; nothing is changed.</p>
      ) : (
        <Verdict report={report} pick={{ picked, pick }} />
      )}
      {chosen.length > 0 && can(ADMIN.repair) ? (
        <button type="button" onClick={() => setRepairing(true)}>
          Repair {many(chosen.length, "finding")} …
        </button>
      ) : null}
      {repairing ? (
        <ActionDialog
          title="Repair the tree"
          says="Only what can be mended without losing anything; a finding whose nodes have changed meanwhile is left alone."
          verb="Repair"
          word="repair"
          onDone={() => void check()}
          onClose={() => setRepairing(false)}
          send={async ({ reason }) => {
            const answer = await call(ADMIN.repair, { body: { reason, findings: chosen.map(({ id }) => id) } });
            if (!answer.ok) return answer;
            const { repaired, left } = answer.value;
            return {
              ...answer,
              value: { message: `${many(repaired.length, "finding")} repaired, ${count(left.length)} left` },
            };
          }}
        >
          <ul class="examples">
            {chosen.slice(0, 8).map(({ id, path, repair }) => (
              <li key={id}>
                <code class="wrap">{path}</code> <span class="quiet">{repair}</span>
              </li>
            ))}
          </ul>
        </ActionDialog>
      ) : null}
    </Card>
  );
}

interface VerdictProps {
  readonly report: FsckReport;
  readonly pick: { readonly picked: ReadonlySet<string>; readonly pick: (picked: ReadonlySet<string>) => void };
}

function Verdict({ report, pick }: VerdictProps) {
  return (
    <>
      <p role="status">
        {report.findings.length === 0 ? (
          <Badge tone="good">sound</Badge>
        ) : (
          <Badge tone="bad">{many(report.findings.length, "finding")}</Badge>
        )}{" "}
        {many(report.jobs, "job")}, {many(report.batches, "batch", "batches")} by {many(report.rules.length, "rule")} in{" "}
        {duration(report.took_ms / 1000)}, <Time at={report.started} />
      </p>
      {report.findings.length === 0 ? null : (
        <Table
          caption="Findings"
          rows={report.findings}
          keyOf={({ id }) => id}
          empty="None."
          picking={pick}
          columns={[
            {
              name: "Rule",
              cell: ({ rule, severity }: Finding) => <Badge tone={severity === "fail" ? "bad" : "warn"}>{rule}</Badge>,
              by: ({ rule }) => rule,
            },
            { name: "Node", cell: ({ path }) => <Link to={nodePage(path)}>{path}</Link>, by: ({ path }) => path },
            { name: "What", cell: ({ what }) => what },
            { name: "Repair", cell: ({ repair }) => repair ?? <span class="quiet">by hand</span> },
          ]}
        />
      )}
      <details>
        <summary>The rules</summary>
        <ul class="rules">
          {report.rules.map(({ rule, says, findings }) => (
            <li key={rule}>
              <Badge tone={findings === 0 ? "good" : "bad"}>{rule}</Badge> {says}
              {findings === 0 ? "" : ` (${count(findings)})`}
            </li>
          ))}
        </ul>
      </details>
    </>
  );
}
