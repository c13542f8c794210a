/** The last hour's samples as series by the minute. Pure. */
import type { HistorySample, Model } from "@sluice/wire";

/** null: nobody looked in that minute, which is not the same as nothing. */
export type Values = readonly (number | null)[];

export interface Minutes {
  readonly times: readonly string[];
  readonly completed: Values;
  readonly failed: Values;
  /** On their way, at the end of each minute. */
  readonly waiting: Values;
  readonly oldest: Values;
}

const MINUTE_MS = 60_000;
const HOUR = 60;

/** Always a whole hour up to the last sample, so that charts can be compared. */
export function minutesOf(samples: readonly HistorySample[], model: Model): Minutes | null {
  const minuteOf = (at: string): number => Math.floor(Date.parse(at) / MINUTE_MS);
  const newest = samples.at(-1);
  if (newest === undefined) return null;
  const end = minuteOf(newest.at);
  const slots = Array.from({ length: HOUR }, (_, i) => {
    const minute = end - HOUR + 1 + i;
    return { minute, samples: samples.filter(({ at }) => minuteOf(at) === minute) };
  });
  const each = (of: (given: readonly HistorySample[]) => number | undefined): Values =>
    slots.map((slot) => (slot.samples.length === 0 ? null : (of(slot.samples) ?? null)));
  const sum = (of: (sample: HistorySample) => number): Values =>
    each((given) => given.reduce((n, sample) => n + of(sample), 0));
  return {
    times: slots.map(({ minute }) => new Date(minute * MINUTE_MS).toISOString()),
    completed: sum(({ completed }) => completed),
    failed: sum(({ failed }) => failed),
    waiting: each((given) => {
      const last = given.at(-1);
      return last === undefined ? undefined : model.pipeline.reduce((n, state) => n + last.jobs[state], 0);
    }),
    oldest: each((given) => given.at(-1)?.oldest_ready_seconds),
  };
}
