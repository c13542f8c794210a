import { type HandlerSummary, JOBS } from "@sluice/wire";
import { useState } from "preact/hooks";
import { bytes } from "../format.ts";
import { useAnswer } from "../load.ts";
import { PutHandler } from "../queue/put-handler.tsx";
import { useMayAct } from "../queue/parts.tsx";
import { Link, type Place } from "../router.tsx";
import { Head, ListMark, Time, TroubleBox } from "../ui/bits.tsx";
import { Choice } from "../ui/filters.tsx";
import { type Column, Table } from "../ui/table.tsx";

export const handlerAddress = ({ tenant, type }: Pick<HandlerSummary, "tenant" | "type">): string =>
  `/handlers/${encodeURIComponent(tenant)}/${encodeURIComponent(type)}`;

export function Handlers({ place }: { readonly place: Place }) {
  const mayAct = useMayAct();
  const tenants = useAnswer(JOBS.listTenants, {}, { everyMs: 10_000 });
  const names = (tenants.value?.items ?? []).map((each) => each.tenant);
  const tenant = place.query.get("tenant") ?? "default";
  const handlers = useAnswer(JOBS.listHandlers, { params: { tenant } }, { everyMs: 5_000 });
  const [adding, setAdding] = useState(false);
  return (
    <>
      <Head title="Handlers">
        <ListMark trouble={handlers.trouble} />
        {mayAct(tenant) ? (
          <button type="button" class="primary" onClick={() => setAdding(true)}>
            Add a handler
          </button>
        ) : null}
      </Head>
      <div class="filters">
        <Choice
          place={place}
          name="tenant"
          label="Tenant"
          all="default"
          options={names.filter((name) => name !== "default")}
        />
      </div>
      <TroubleBox trouble={handlers.trouble} />
      <Table
        caption={`Handlers of ${tenant}`}
        columns={COLUMNS}
        rows={handlers.value === null ? (handlers.trouble === null ? null : []) : newestOf(handlers.value.items)}
        keyOf={({ type }) => type}
        empty="No handler: jobs of this tenant wait for workers that ask for them."
      />
      {adding ? <PutHandler tenant={tenant} onClose={() => setAdding(false)} onDone={handlers.reload} /> : null}
    </>
  );
}

interface Row extends HandlerSummary {
  readonly versions: number;
}

function newestOf(items: readonly HandlerSummary[]): readonly Row[] {
  const rows = new Map<string, Row>();
  for (const item of items) {
    const before = rows.get(item.type);
    const newest = before === undefined || item.version > before.version ? item : before;
    rows.set(item.type, { ...newest, versions: (before?.versions ?? 0) + 1 });
  }
  return [...rows.values()];
}

const COLUMNS: readonly Column<Row>[] = [
  {
    name: "Type",
    cell: (row) => (
      <Link to={handlerAddress(row)}>
        <strong class="wrap">{row.type}</strong>
      </Link>
    ),
    by: ({ type }) => type,
  },
  { name: "Language", cell: ({ lang }) => lang, by: ({ lang }) => lang },
  { name: "Version", numeric: true, cell: ({ version }) => version, by: ({ version }) => version },
  { name: "Versions kept", numeric: true, cell: ({ versions }) => versions, by: ({ versions }) => versions },
  { name: "Size", numeric: true, cell: (row) => bytes(row.bytes), by: (row) => row.bytes },
  { name: "Made by", cell: ({ by }) => by, by: ({ by }) => by },
  { name: "Made", cell: ({ created }) => <Time at={created} />, by: ({ created }) => created },
];
