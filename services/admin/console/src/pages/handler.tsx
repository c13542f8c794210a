import { JOBS } from "@sluice/wire";
import { useState } from "preact/hooks";
import { ActionDialog } from "../actions/action-dialog.tsx";
import { call } from "../api.ts";
import { duration, many } from "../format.ts";
import { useAnswer } from "../load.ts";
import { PutHandler } from "../queue/put-handler.tsx";
import { useMayAct } from "../queue/parts.tsx";
import { go, Link, type Place, withQuery } from "../router.tsx";
import { Card, Facts, Head, Time, TroubleBox, Waiting } from "../ui/bits.tsx";

interface HandlerProps {
  readonly tenant: string;
  readonly type: string;
  readonly place: Place;
}

export function Handler({ tenant, type, place }: HandlerProps) {
  const mayAct = useMayAct();
  const wanted = place.query.get("version");
  const list = useAnswer(JOBS.listHandlers, { params: { tenant } }, { everyMs: 5_000 });
  const query = wanted === null ? {} : { version: Number(wanted) };
  const { value, trouble, reload } = useAnswer(JOBS.getHandler, { params: { tenant, type }, query });
  const [asked, setAsked] = useState<"put" | "delete" | null>(null);
  const versions = (list.value?.items ?? []).filter((each) => each.type === type).map(({ version }) => version);
  const done = (): void => {
    list.reload();
    reload();
  };
  const to = `/handlers?tenant=${encodeURIComponent(tenant)}`;
  return (
    <>
      <Head title={type} above={<Link to={to}>Handlers of {tenant}</Link>}>
        {mayAct(tenant) && value !== null ? (
          <>
            <button type="button" onClick={() => setAsked("put")}>
              New version
            </button>
            <button type="button" class="danger quietly" onClick={() => setAsked("delete")}>
              Delete
            </button>
          </>
        ) : null}
      </Head>
      <TroubleBox trouble={trouble} />
      {value === null ? (
        trouble === null ? (
          <Waiting />
        ) : null
      ) : (
        <>
          <Card title="About">
            <Facts
              rows={[
                ["Language", value.lang],
                [
                  "Version",
                  <Versions
                    place={place}
                    shown={value.version}
                    versions={versions.length === 0 ? [value.version] : versions}
                  />,
                ],
                ["Made", <Time at={value.created} />],
                ["By", value.by],
                ["Time limit", value.timeoutMs === undefined ? null : duration(value.timeoutMs / 1_000)],
                ["Memory", value.memoryMb === undefined ? null : `${value.memoryMb} MB`],
                ["At once", value.batch === undefined ? null : many(value.batch, "job")],
                ["May reach", (value.allow?.network ?? []).join(", ")],
                ["May read", (value.allow?.files ?? []).join(", ")],
                ["Shares", value.eid],
              ]}
            />
          </Card>
          {PARTS.map(([name, part]) =>
            value[part] === undefined ? null : (
              <Card key={part} title={name}>
                <pre class="data" tabIndex={0}>
                  {value[part]}
                </pre>
              </Card>
            ),
          )}
        </>
      )}
      {asked === "put" && value !== null ? (
        <PutHandler tenant={tenant} from={value} onClose={() => setAsked(null)} onDone={done} />
      ) : null}
      {asked === "delete" ? (
        <ActionDialog
          title={`Delete the handler of ${type}`}
          says="All its versions go. Its jobs wait for another handler or a worker, until their time is over."
          verb="Delete"
          word={type}
          danger
          onDone={() => go(to)}
          onClose={() => setAsked(null)}
          send={async ({ reason }) => {
            const answer = await call(JOBS.deleteHandler, { params: { tenant, type }, query: { reason } });
            if (!answer.ok) return answer;
            return { ...answer, value: { message: `${many(answer.value.versions.length, "version")} deleted` } };
          }}
        />
      ) : null}
    </>
  );
}

const PARTS = [
  ["Before", "before"],
  ["Before each", "beforeEach"],
  ["Body", "body"],
  ["After each", "afterEach"],
] as const;

interface VersionsProps {
  readonly place: Place;
  readonly shown: number;
  readonly versions: readonly number[];
}

const Versions = ({ place, shown, versions }: VersionsProps) => (
  <select
    aria-label="Version"
    value={shown}
    onChange={({ currentTarget }) => go(withQuery(place, { version: currentTarget.value }))}
  >
    {versions
      .toSorted((a, b) => b - a)
      .map((version) => (
        <option key={version} value={version}>
          {version}
        </option>
      ))}
  </select>
);
