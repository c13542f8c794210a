/** A job's life: each state, how long, which attempt, who, what was said. */
import type { JobDetail } from "@sluice/wire";
import { duration } from "../format.ts";
import { Bar, State, Time } from "../ui/bits.tsx";
import { type Tone, toneOfEvent, wordsOfEvent } from "../ui/tones.ts";

type JobEvent = JobDetail["events"][number];

export interface Step extends JobEvent {
  /** Since the event before, or null for the first. */
  readonly afterSeconds: number | null;
  /** Which try in its state this was. */
  readonly attempt: number;
}

const ENDS_TRY: ReadonlySet<string> = new Set(["retry", "takeover"]);

export function stepsOf(events: readonly JobEvent[]): readonly Step[] {
  return events.map((event, i) => {
    const before = events[i - 1];
    const sameState = events.slice(0, i).filter(({ state, kind }) => state === event.state && ENDS_TRY.has(kind));
    return {
      ...event,
      afterSeconds: before === undefined ? null : (Date.parse(event.at) - Date.parse(before.at)) / 1000,
      attempt: sameState.length + 1,
    };
  });
}

export interface Share {
  readonly state: string;
  readonly seconds: number;
}

/** How long it was in each state, in the order in which it came there. */
export function sharesOf(steps: readonly Step[]): readonly Share[] {
  const shares: Share[] = [];
  for (const { state, afterSeconds } of steps) {
    const last = shares.at(-1);
    if (last?.state === state) shares[shares.length - 1] = { state, seconds: last.seconds + (afterSeconds ?? 0) };
    else shares.push({ state, seconds: afterSeconds ?? 0 });
  }
  return shares;
}

/** Neighbours must differ; none of them is better than another. */
const TONES: readonly Tone[] = ["active", "idle"];

export function Timeline({ job }: { readonly job: JobDetail }) {
  const steps = stepsOf(job.events);
  const shares = sharesOf(steps).filter(({ seconds }) => seconds > 0);
  const total = shares.reduce((sum, { seconds }) => sum + seconds, 0);
  return (
    <>
      {total > 0 ? (
        <div class="shares">
          <Bar
            label="Seconds in each state"
            total={total}
            parts={shares.map(({ state, seconds }, i) => ({
              tone: TONES[i % TONES.length] ?? "idle",
              n: seconds,
              label: `in ${state}${i > 0 ? ` (${i + 1})` : ""}`,
            }))}
          />
          <p class="quiet">{shares.map(({ state, seconds }) => `${state} ${duration(seconds)}`).join(" · ")}</p>
        </div>
      ) : null}
      <ol class="timeline">
        {steps.map((step, i) => (
          <li key={`${step.at} ${i}`} class={toneOfEvent(step.kind)}>
            <p>
              <strong>{step.state}</strong> {wordsOfEvent(step.kind)}
              {step.attempt > 1 ? <span class="quiet"> · attempt {step.attempt}</span> : null}
            </p>
            {step.detail === null ? null : <p class="said">{step.detail}</p>}
            <p class="quiet">
              <Time at={step.at} /> by {step.by}
              {(step.seconds ?? 0) >= 1 ? ` · worked ${duration(step.seconds ?? 0)}` : ""}
              {(step.afterSeconds ?? 0) >= 1 ? ` · ${duration(step.afterSeconds ?? 0)} after the step before` : ""}
            </p>
          </li>
        ))}
        <li class="now">
          <p>
            <State of={job.status} />
            {job.worker === null ? null : <span class="quiet"> in hand of {job.worker}</span>}
            {job.attempts > 1 ? <span class="quiet"> · attempt {job.attempts}</span> : null}
          </p>
          <p class="quiet">
            since <Time at={job.last_modified} />
          </p>
        </li>
      </ol>
    </>
  );
}
