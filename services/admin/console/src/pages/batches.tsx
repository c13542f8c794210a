import { ADMIN, type BatchSummary } from "@sluice/wire";
import { call } from "../api.ts";
import { count, many } from "../format.ts";
import { useList } from "../list.ts";
import { useAnswer } from "../load.ts";
import { Link, type Place } from "../router.tsx";
import { useSession } from "../session.tsx";
import { Bar, Head, ListMark, State, Time, TroubleBox } from "../ui/bits.tsx";
import { Choice, Search } from "../ui/filters.tsx";
import { Pager } from "../ui/pages.tsx";
import { type Column, Table } from "../ui/table.tsx";

export const nameOf = ({ title, payload_name, bid }: BatchSummary): string => title ?? payload_name ?? bid;

export function BatchProgress({ batch }: { readonly batch: BatchSummary }) {
  const { processing, failed, completed, deleted } = batch.counts;
  const total = batch.rows ?? processing + failed + completed + deleted;
  const said = [
    `${count(completed)} of ${many(total, "job")} completed`,
    ...(failed > 0 ? [`${count(failed)} failed`] : []),
    ...(deleted > 0 ? [`${count(deleted)} deleted`] : []),
    ...(batch.created < total ? [`${count(batch.created)} made`] : []),
  ];
  return (
    <div class="progress">
      <Bar
        label={`Jobs of ${batch.bid}`}
        total={Math.max(total, 1)}
        parts={[
          { tone: "good", n: completed, label: "completed" },
          { tone: "bad", n: failed, label: "failed" },
          { tone: "idle", n: deleted, label: "deleted" },
          { tone: "active", n: processing, label: "on their way" },
        ]}
      />
      <span class="quiet">{batch.rows === null ? "manifest not read yet" : said.join(", ")}</span>
    </div>
  );
}

export const BATCH_COLUMNS: readonly Column<BatchSummary>[] = [
  {
    name: "Batch",
    cell: (batch) => (
      <>
        <Link to={`/batches/${batch.bid}`}>
          <strong>{nameOf(batch)}</strong>
        </Link>
        <div class="quiet">
          <code>{batch.bid}</code>
        </div>
      </>
    ),
    by: nameOf,
  },
  { name: "State", cell: ({ status }) => <State of={status} />, by: ({ status }) => status },
  { name: "Progress", cell: (batch) => <BatchProgress batch={batch} /> },
  { name: "Collection", cell: ({ profile }) => profile, by: ({ profile }) => profile },
  { name: "Submitter", cell: ({ submitter }) => submitter, by: ({ submitter }) => submitter },
  { name: "Submitted", cell: ({ submitted }) => <Time at={submitted} />, by: ({ submitted }) => submitted ?? "" },
];

export function useCollectionNames(): readonly string[] {
  const { value } = useAnswer(ADMIN.collections, {});
  return value?.items.map(({ name }) => name) ?? [];
}

export function Batches({ place }: { readonly place: Place }) {
  const { model, me } = useSession();
  const wish = (name: string): string | undefined => place.query.get(name) ?? undefined;
  const query = { state: wish("state"), profile: wish("profile"), submitter: wish("submitter"), q: wish("q") };
  const list = useList<BatchSummary>(JSON.stringify(query), place.query.get("cursor"), (cursor, signal) =>
    // The state comes from a list of the server's own; a wrong one in the address is refused in words.
    call(ADMIN.batches, { query: { ...query, cursor } as never, signal }),
  );
  return (
    <>
      <Head title={me.role === "depositor" ? "My batches" : "Batches"}>
        <ListMark trouble={list.trouble} />
      </Head>
      <div class="filters">
        <Search place={place} label="Search batches" hint="Id, title or message  ( / )" />
        <Choice
          place={place}
          name="state"
          label="State"
          all="Any state"
          options={model.batch_states.map(({ state }) => state)}
        />
        <Choice place={place} name="profile" label="Collection" all="Any collection" options={useCollectionNames()} />
      </div>
      <TroubleBox trouble={list.trouble} />
      <Table
        caption="Batches, newest first"
        columns={BATCH_COLUMNS}
        rows={list.items}
        keyOf={({ bid }) => bid}
        empty="No batch is like this."
      />
      <Pager place={place} next={list.next} />
    </>
  );
}
