/** A depositor's own deposits for later: what runs when, how the last run ended, and a way to cancel it. */
import { ADMIN, type ScheduledDeposit } from "@sluice/wire";
import { useState } from "preact/hooks";
import { ActionDialog } from "../actions/action-dialog.tsx";
import { call } from "../api.ts";
import { useList } from "../list.ts";
import { Exit, Repeats } from "../queue/parts.tsx";
import { Link, type Place } from "../router.tsx";
import { Head, ListMark, State, Time, TroubleBox } from "../ui/bits.tsx";
import { Pager } from "../ui/pages.tsx";
import { type Column, Table } from "../ui/table.tsx";

const LIMIT = 20;

export function MySchedules({ place }: { readonly place: Place }) {
  const [cancelling, setCancelling] = useState<ScheduledDeposit | null>(null);
  const list = useList<ScheduledDeposit>("mine", place.query.get("cursor"), (cursor, signal) =>
    call(ADMIN.ownSchedules, { query: { cursor, limit: LIMIT }, signal }),
  );
  return (
    <>
      <Head title="My deposits for later">
        <ListMark trouble={list.trouble} />
      </Head>
      <p class="quiet">
        They submit in your name and end with the token that made them. Queries of URLs are not shown. New ones are made
        with <code>sluice submit --first-run</code> or <code>--repeat</code>.
      </p>
      <TroubleBox trouble={list.trouble} />
      <Table
        caption="My deposits for later"
        columns={[...COLUMNS, actions(setCancelling)]}
        rows={list.items ?? (list.trouble === null ? null : [])}
        keyOf={({ id }) => String(id)}
        empty="You have no deposits for later."
      />
      <Pager place={place} next={list.next} />
      {cancelling === null ? null : (
        <ActionDialog
          title={`Cancel deposit ${cancelling.id}`}
          says={`It will not submit ${cancelling.submits} to ${cancelling.profile} any more; a run in progress is its last. What it has submitted stays.`}
          verb="Cancel the deposit"
          word={String(cancelling.id)}
          danger
          asksWhy={false}
          onDone={list.reload}
          onClose={() => setCancelling(null)}
          send={() => call(ADMIN.cancelOwnSchedule, { params: { id: cancelling.id } })}
        />
      )}
    </>
  );
}

const COLUMNS: readonly Column<ScheduledDeposit>[] = [
  {
    name: "Submits",
    cell: ({ id, submits, profile }) => (
      <>
        <strong class="wrap">{submits}</strong>
        <div class="quiet">
          to {profile} · <code>{id}</code>
        </div>
      </>
    ),
    by: ({ submits }) => submits,
  },
  {
    name: "Repeats",
    cell: ({ repeat }) => (repeat === "" ? <span class="quiet">once</span> : <Repeats repeat={repeat} />),
  },
  {
    name: "State",
    cell: ({ state, ends }) => (
      <>
        <State of={state} />
        {ends === null ? null : (
          <div class="quiet wrap">{state === "FAILED" ? "it has ended: see its last run" : ends}</div>
        )}
      </>
    ),
    by: ({ state }) => state,
  },
  { name: "Next run", cell: ({ next_run }) => <Time at={next_run} />, by: ({ next_run }) => next_run ?? "" },
  {
    name: "Last run",
    cell: ({ last_run, last_exit, last_result }) => (
      <>
        <Time at={last_run} /> {last_exit === null ? null : <Exit exit={last_exit} />}
        <div class="quiet wrap">
          <Result of={last_result} />
        </div>
      </>
    ),
    by: ({ last_run }) => last_run ?? "",
  },
];

/** The batch that the run made, or why it made none. */
const Result = ({ of }: { readonly of: string | null }) =>
  of !== null && /^bid\d{10}$/.test(of) ? <Link to={`/batches/${of}`}>{of}</Link> : <>{of}</>;

const actions = (onCancel: (deposit: ScheduledDeposit) => void): Column<ScheduledDeposit> => ({
  name: "Actions",
  cell: (deposit) => (
    <button
      type="button"
      class="danger quietly"
      aria-label={`Cancel deposit ${deposit.id}`}
      onClick={() => onCancel(deposit)}
    >
      Cancel
    </button>
  ),
});
