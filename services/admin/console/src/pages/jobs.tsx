import { ADMIN, type BulkRequest, type JobSummary } from "@sluice/wire";
import { useState } from "preact/hooks";
import { BulkDialog } from "../actions/bulk-dialog.tsx";
import { harmlessFirst, jobWords } from "../actions/words.ts";
import { call } from "../api.ts";
import { count } from "../format.ts";
import { useList } from "../list.ts";
import { Link, type Place } from "../router.tsx";
import { useSession } from "../session.tsx";
import { Head, ListMark, TroubleBox } from "../ui/bits.tsx";
import { Choice, Search } from "../ui/filters.tsx";
import { Pager } from "../ui/pages.tsx";
import { Table } from "../ui/table.tsx";
import { useCollectionNames } from "./batches.tsx";
import { JOB_COLUMNS } from "./job-columns.tsx";

type Filter = BulkRequest["filter"];

export function Jobs({ place }: { readonly place: Place }) {
  const { model, can } = useSession();
  const [picked, pick] = useState<ReadonlySet<string>>(new Set());
  const wish = (name: string): string | undefined => place.query.get(name) ?? undefined;
  const query = {
    state: wish("state"),
    profile: wish("profile"),
    error_code: wish("error_code"),
    batch: wish("batch"),
    q: wish("q"),
  };
  const list = useList<JobSummary>(JSON.stringify(query), place.query.get("cursor"), (cursor, signal) =>
    // The state comes from a list of the server's own; a wrong one in the address is refused in words.
    call(ADMIN.jobs, { query: { ...query, cursor } as never, signal }),
  );
  const acts = can(ADMIN.bulkAction);
  return (
    <>
      <Head title="Jobs">
        <ListMark trouble={list.trouble} />
        {acts ? <Link to="/operations">Operations</Link> : null}
      </Head>
      <div class="filters">
        <Search place={place} label="Search jobs" hint="Id, ARK, local id or file name  ( / )" />
        <Choice
          place={place}
          name="state"
          label="State"
          all="Any state"
          options={model.job_states.map(({ state }) => state)}
        />
        <Choice place={place} name="profile" label="Collection" all="Any collection" options={useCollectionNames()} />
        <Choice
          place={place}
          name="error_code"
          label="Error"
          all="Any error"
          options={model.errors.map(({ code }) => code)}
        />
        {query.batch === undefined ? null : (
          <Choice place={place} name="batch" label="Batch" all="Any batch" options={[query.batch]} />
        )}
      </div>
      <TroubleBox trouble={list.trouble} />
      {acts ? <BulkBar query={query} picked={picked} onDone={() => pick(new Set())} /> : null}
      <Table
        caption="Jobs by state and priority"
        columns={JOB_COLUMNS}
        rows={list.items}
        keyOf={({ jid }) => jid}
        empty={list.next === null ? "No job is like this." : "None among the first. There are more to look through."}
        {...(acts ? { picking: { picked, pick } } : {})}
      />
      <Pager place={place} next={list.next} />
    </>
  );
}

interface BulkBarProps {
  readonly query: Readonly<Record<"state" | "profile" | "error_code" | "batch" | "q", string | undefined>>;
  readonly picked: ReadonlySet<string>;
  readonly onDone: () => void;
}

/** Those that are selected, or all that filters and search find. */
function BulkBar({ query, picked, onDone }: BulkBarProps) {
  const { model } = useSession();
  const [asked, setAsked] = useState<string | null>(null);
  const isNarrowed = Object.values(query).some((value) => value !== undefined);
  const rows = model.job_states.filter(({ state }) => query.state === undefined || state === query.state);
  const actions = harmlessFirst([...new Set(rows.flatMap((row) => row.actions))], jobWords);
  const possible = picked.size > 0 || isNarrowed;
  if (actions.length === 0) return null;
  return (
    <div class="bulk" role="group" aria-label="Act on many jobs">
      <span>
        {picked.size > 0
          ? `${count(picked.size)} selected:`
          : possible
            ? query.q === undefined
              ? "All that these filters find:"
              : `All that “${query.q}” finds here:`
            : "Select jobs, search, or set a filter, to act on many at once."}
      </span>
      {possible
        ? actions.map((action) => (
            <button
              key={action}
              type="button"
              class={jobWords(action).danger === true ? "danger quietly" : ""}
              onClick={() => setAsked(action)}
            >
              {jobWords(action).label} …
            </button>
          ))
        : null}
      {asked === null ? null : (
        <BulkDialog
          action={asked}
          filter={picked.size > 0 ? { ids: [...picked] } : filterOf(query)}
          onClose={() => {
            setAsked(null);
            onDone();
          }}
        />
      )}
    </div>
  );
}

const filterOf = ({ state, profile, error_code, batch, q }: BulkBarProps["query"]): Filter => ({
  ...(state === undefined ? {} : { states: [state] as NonNullable<Filter["states"]> }),
  ...(profile === undefined ? {} : { profile }),
  ...(error_code === undefined ? {} : { error_code }),
  ...(batch === undefined ? {} : { batch }),
  ...(q === undefined ? {} : { q }),
});
