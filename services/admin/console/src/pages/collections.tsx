import { ADMIN, type CollectionView } from "@sluice/wire";
import { SwitchButton } from "../actions/switch-button.tsx";
import { call } from "../api.ts";
import { bytes, count, many } from "../format.ts";
import { useAnswer } from "../load.ts";
import { Link } from "../router.tsx";
import { useModel, useSession } from "../session.tsx";
import { Badge, Head, Hold, ListMark, State, Time, TroubleBox } from "../ui/bits.tsx";
import { type Column, Table } from "../ui/table.tsx";

export function Collections() {
  const { can } = useSession();
  const { value, trouble, reload } = useAnswer(ADMIN.collections, {}, { everyMs: 5_000 });
  const columns: readonly Column<CollectionView>[] = [
    {
      name: "Collection",
      by: ({ name }) => name,
      cell: ({ name, description }) => (
        <>
          <Link to={`/jobs?profile=${encodeURIComponent(name)}`}>
            <strong>{name}</strong>
          </Link>
          <div class="quiet">{description}</div>
        </>
      ),
    },
    {
      name: "Hold",
      cell: ({ hold }) => (hold === null ? <span class="quiet">not held</span> : <HeldHow hold={hold} />),
      by: ({ hold }) => (hold === null ? 1 : 0),
    },
    { name: "Jobs", cell: (collection) => <Counts of={collection} />, by: ({ jobs }) => total(jobs) },
    {
      name: "Space needed",
      numeric: true,
      cell: ({ space_needed_bytes }) => bytes(space_needed_bytes),
      by: ({ space_needed_bytes }) => space_needed_bytes,
    },
    ...(can(ADMIN.collectionAction)
      ? [{ name: "Actions", cell: (collection: CollectionView) => <HoldSwitch of={collection} onDone={reload} /> }]
      : []),
  ];
  return (
    <>
      <Head title="Collections and holds">
        <ListMark trouble={trouble} />
      </Head>
      <TroubleBox trouble={trouble} />
      {value !== null && value.unread > 0 ? (
        <p class="quiet" role="status">
          {many(value.unread, "job is", "jobs are")} still being looked at, and counted nowhere yet.
        </p>
      ) : null}
      <Table
        caption="Collections, their holds and their jobs"
        columns={columns}
        rows={value?.items ?? null}
        keyOf={({ name }) => name}
        empty="There is no collection yet."
      />
      {value === null ? null : (
        <p class="quiet">
          As of <Time at={value.as_of} />
        </p>
      )}
    </>
  );
}

const total = (jobs: CollectionView["jobs"]): number => Object.values(jobs).reduce((sum, n) => sum + n, 0);

const HeldHow = ({ hold }: { readonly hold: NonNullable<CollectionView["hold"]> }) => (
  <>
    <Badge tone="warn">held</Badge>
    <div class="quiet">
      <Hold hold={hold} what="" />
    </div>
  </>
);

function Counts({ of: { name, jobs } }: { readonly of: CollectionView }) {
  const states = Object.entries(jobs).filter(([, n]) => n > 0);
  if (states.length === 0) return <span class="quiet">none</span>;
  return (
    <ul class="counts">
      {states.map(([state, n]) => (
        <li key={state}>
          <Link to={`/jobs?profile=${encodeURIComponent(name)}&state=${state}`}>
            <strong>{count(n)}</strong> <State of={state} />
          </Link>
        </li>
      ))}
    </ul>
  );
}

function HoldSwitch({ of: { name, hold }, onDone }: { readonly of: CollectionView; readonly onDone: () => void }) {
  const model = useModel();
  const held = model.job_states.find(({ actions }) => actions.includes("release"))?.state ?? "";
  return (
    <SwitchButton
      what={name}
      hold={hold}
      verbs={{ hold: "Hold", release: "Release" }}
      says={{
        hold: "New batches and jobs of it are parked before any work is done on them; what is already on its way goes on.",
        release: `New deposits go on. Jobs that are ${held} already stay so until they are released: filter the jobs by ${held}.`,
      }}
      word={name}
      send={(body) => call(ADMIN.collectionAction, { params: { name }, body })}
      onDone={onDone}
    />
  );
}
