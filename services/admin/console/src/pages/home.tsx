import { ADMIN, type Overview } from "@sluice/wire";
import { SwitchButton } from "../actions/switch-button.tsx";
import { call } from "../api.ts";
import { bytes, count, duration, sentence, withoutCode } from "../format.ts";
import { remarksOn } from "../home/attention.ts";
import { LastHour } from "../home/last-hour.tsx";
import { Pipeline } from "../home/pipeline.tsx";
import { useLive } from "../load.ts";
import { Link } from "../router.tsx";
import { stateThatAllows, useModel, useSession } from "../session.tsx";
import { EndingTokens } from "../ui/ending-tokens.tsx";
import { Badge, Bar, Card, Head, Hold, Id, LiveMark, Nothing, State, Time, TroubleBox, Waiting } from "../ui/bits.tsx";

export function Home() {
  const { value: now, trouble, line, reload } = useLive(ADMIN.overviewEvents, ADMIN.overview, {});
  return (
    <>
      <Head title="The fleet">
        <LiveMark line={line} />
        {now === null ? null : <PauseQueue now={now} onDone={reload} />}
      </Head>
      <TroubleBox trouble={trouble} />
      <EndingTokens />
      {now === null ? (
        trouble === null ? (
          <Waiting />
        ) : null
      ) : (
        <>
          <Stopped now={now} />
          <Figures now={now} />
          <Card title="Pipeline" class="picture">
            <Pipeline now={now} />
          </Card>
          <div class="columns">
            <Failures now={now} />
            <Space now={now} />
          </div>
          <LastHour />
        </>
      )}
    </>
  );
}

interface NowProps {
  readonly now: Overview;
}

function PauseQueue({ now, onDone }: NowProps & { readonly onDone: () => void }) {
  const { can } = useSession();
  if (!can(ADMIN.queueAction)) return null;
  return (
    <SwitchButton
      what="the whole queue"
      hold={now.queue_paused}
      verbs={{ hold: "Pause", release: "Resume" }}
      says={{
        hold: "Workers finish current jobs and claim no more. Submissions are still accepted.",
        release: "Every stage claims jobs again.",
      }}
      word="queue"
      send={(body) => call(ADMIN.queueAction, { body })}
      onDone={onDone}
    />
  );
}

/** Pauses, holds and whatever else keeps jobs from moving: in plain sight, with who, when and why. */
function Stopped({ now }: NowProps) {
  const paused = now.stages.filter((stage) => stage.paused !== null);
  const remarks = remarksOn(now);
  if (now.queue_paused === null && paused.length + now.held_collections.length + remarks.length === 0) return null;
  return (
    <ul class="remarks" aria-label="What keeps jobs from moving">
      {now.queue_paused === null ? null : (
        <li class="warn">
          <Hold hold={now.queue_paused} what="The whole queue is paused" />
        </li>
      )}
      {paused.map(({ stage, paused: hold }) =>
        hold === null ? null : (
          <li key={stage} class="warn">
            <Hold hold={hold} what={`${stage} is paused`} /> <Link to="/workers">Stages</Link>
          </li>
        ),
      )}
      {now.held_collections.map((hold) => (
        <li key={hold.collection} class="warn">
          <Hold hold={hold} what={`${hold.collection} is held`} /> <Link to="/collections">Collections</Link>
        </li>
      ))}
      {remarks.map(({ text, tone, to, link }) => (
        <li key={text} class={tone}>
          {text} <Link to={to}>{link}</Link>
        </li>
      ))}
    </ul>
  );
}

function Figures({ now }: NowProps) {
  const oldest = now.stages.reduce((most, stage) => Math.max(most, stage.oldest_ready_seconds), 0);
  const workers = now.stages.reduce((sum, stage) => sum + stage.workers, 0);
  const inHand = now.stages.reduce((sum, stage) => sum + stage.in_hand, 0);
  const waiting = now.stages.reduce((sum, stage) => sum + stage.ready, 0);
  const figures: readonly (readonly [string, string, string])[] = [
    ["Completed", `${now.completed_per_minute}`, "per minute"],
    ["Failed", `${now.failed_per_minute}`, "per minute"],
    ["Ready", count(waiting), `${count(inHand)} in hand`],
    ["Oldest ready", oldest === 0 ? "–" : duration(oldest), oldest === 0 ? "nothing waits" : "of all stages"],
    ["Workers", count(workers), `in ${now.stages.length} stages`],
  ];
  return (
    <dl class="figures">
      {figures.map(([name, value, more]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>
            <strong>{value}</strong> <span class="quiet">{more}</span>
          </dd>
        </div>
      ))}
    </dl>
  );
}

const Failures = ({ now }: NowProps) => {
  const all = `/jobs?state=${stateThatAllows(useModel(), "resume")}`;
  return (
    <Card title="Recent failures by reason" aside={<Link to={all}>All failed jobs</Link>}>
      {now.failures.length === 0 ? (
        <Nothing>No job has failed lately.</Nothing>
      ) : (
        <ul class="failures">
          {now.failures.map(({ code, count: n, says, remedy, example }) => (
            <li key={code}>
              <Link to={`${all}&error_code=${encodeURIComponent(code)}`}>
                <Badge tone="bad">
                  {count(n)} × {code}
                </Badge>
              </Link>
              <p>
                {sentence(says)}. <span class="quiet">To do: {remedy}.</span>
              </p>
              <p class="quiet clip">
                Last: <Link to={`/jobs/${example.id}`}>{example.id}</Link> <Time at={example.at} />:{" "}
                {withoutCode(example.message, code)}
              </p>
            </li>
          ))}
        </ul>
      )}
    </Card>
  );
};

function Space({ now: { space, batches, fleet_id } }: NowProps) {
  const used = space === null ? 0 : space.volume_bytes - space.free_bytes;
  return (
    <Card title="Working volume and batches">
      {space === null ? (
        <Nothing>The working volume cannot be seen from here.</Nothing>
      ) : (
        <>
          <Bar
            label="Space in the working volume"
            total={space.volume_bytes}
            parts={[
              { tone: used > space.admit_below * space.volume_bytes ? "bad" : "active", n: used, label: "bytes used" },
              { tone: "warn", n: Math.min(space.reserved_bytes, space.free_bytes), label: "bytes reserved" },
            ]}
          />
          <p class="quiet">
            {bytes(space.free_bytes)} free of {bytes(space.volume_bytes)}; {bytes(space.reserved_bytes)} reserved by
            admitted jobs; jobs are admitted up to {Math.round(space.admit_below * 100)} %
          </p>
        </>
      )}
      <ul class="counts">
        {Object.entries(batches)
          .filter(([, n]) => n > 0)
          .map(([state, n]) => (
            <li key={state}>
              <Link to={`/batches?state=${state}`}>
                <strong>{count(n)}</strong> <State of={state} />
              </Link>
            </li>
          ))}
      </ul>
      <p class="quiet">
        Fleet <Id>{fleet_id}</Id>
      </p>
    </Card>
  );
}
