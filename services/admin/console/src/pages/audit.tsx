import { ADMIN, type AuditView } from "@sluice/wire";
import { useState } from "preact/hooks";
import { call } from "../api.ts";
import { many } from "../format.ts";
import { useList } from "../list.ts";
import { useAnswer } from "../load.ts";
import { go, Link, type Place, withQuery } from "../router.tsx";
import { Head, ListMark, Time, TroubleBox } from "../ui/bits.tsx";
import { Pager } from "../ui/pages.tsx";
import { type Column, Table } from "../ui/table.tsx";

/** What was changed, as a link where there is a page about it. */
function Target({ of }: { readonly of: string }) {
  const [id] = /\bjid\d{10}\b/.exec(of) ?? [];
  if (id !== undefined) return <Link to={`/jobs/${id}`}>{of}</Link>;
  const [batch] = /\bbid\d{10}\b/.exec(of) ?? [];
  return batch === undefined ? <span class="wrap">{of}</span> : <Link to={`/batches/${batch}`}>{of}</Link>;
}

/** Names can be given twice, ids cannot. */
const Who = ({ of: { actor, caller } }: { readonly of: AuditView }) => (
  <>
    {actor}
    {caller === null ? null : (
      <>
        {" "}
        <code class="quiet wrap">{caller}</code>
      </>
    )}
  </>
);

const COLUMNS: readonly Column<AuditView>[] = [
  { name: "No.", numeric: true, cell: ({ number }) => String(number), by: ({ number }) => number },
  { name: "When", cell: ({ at }) => <Time at={at} />, by: ({ at }) => at ?? "" },
  { name: "Who", cell: (record) => <Who of={record} />, by: ({ actor }) => actor },
  { name: "What", cell: ({ action }) => action, by: ({ action }) => action },
  { name: "On", cell: ({ target }) => <Target of={target} />, by: ({ target }) => target },
  { name: "Why", cell: ({ reason }) => reason },
  {
    name: "Hash",
    cell: ({ hash }) => (
      <code title={hash} class="quiet">
        {hash.slice(0, 10)}
      </code>
    ),
  },
];

export function Audit({ place }: { readonly place: Place }) {
  const wish = (name: string): string | undefined => place.query.get(name) ?? undefined;
  const query = { actor: wish("actor"), target: wish("target") };
  const list = useList<AuditView>(JSON.stringify(query), place.query.get("cursor"), (cursor, signal) =>
    call(ADMIN.audit, { query: { ...query, cursor }, signal }),
  );
  return (
    <>
      <Head title="Audit">
        <ListMark trouble={list.trouble} />
        <Check />
      </Head>
      <div class="filters">
        <Field place={place} name="actor" label="Who" search />
        <Field place={place} name="target" label="On what" />
      </div>
      <TroubleBox trouble={list.trouble} />
      <Table
        caption="Every change, newest first"
        columns={COLUMNS}
        rows={list.items}
        keyOf={({ number }) => String(number)}
        empty="Nothing has been changed by anybody like this."
      />
      <Pager place={place} next={list.next} />
    </>
  );
}

interface FieldProps {
  readonly place: Place;
  readonly name: string;
  readonly label: string;
  readonly search?: boolean;
}

const Field = ({ place, name, label, search = false }: FieldProps) => (
  <input
    type={search ? "search" : "text"}
    aria-label={label}
    placeholder={label}
    defaultValue={place.query.get(name) ?? ""}
    onChange={({ currentTarget }) => go(withQuery(place, { [name]: currentTarget.value.trim() }))}
  />
);

/** Whether somebody has tampered with it: every record carries the hash of the one before. */
function Check() {
  const [asked, setAsked] = useState(false);
  const { value, trouble, reload } = useAnswer(ADMIN.auditCheck, {}, { when: asked });
  return (
    <>
      <button
        type="button"
        onClick={() => {
          setAsked(true);
          reload();
        }}
      >
        Check the chain
      </button>
      <span role="status">
        {value === null
          ? null
          : value.whole
            ? `✓ whole: ${many(value.records, "record")}`
            : `✕ ${value.problem ?? "broken"}`}
      </span>
      <TroubleBox trouble={trouble} />
    </>
  );
}
