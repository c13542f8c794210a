/** The last hour's samples as series by the minute. Pure. */
import type { HistorySample, Model } from "@sluice/wire";

export interface Minutes {
  readonly times: readonly string[];
  readonly completed: readonly number[];
  readonly failed: readonly number[];
  /** On their way, at the end of each minute. */
  readonly waiting: readonly number[];
  readonly oldest: readonly number[];
}

const MINUTE_MS = 60_000;

export function minutesOf(samples: readonly HistorySample[], model: Model): Minutes {
  const groups = new Map<number, HistorySample[]>();
  for (const sample of samples) {
    const minute = Math.floor(Date.parse(sample.at) / MINUTE_MS);
    groups.set(minute, [...(groups.get(minute) ?? []), sample]);
  }
  const all = [...groups.values()];
  const sum = (of: (sample: HistorySample) => number) =>
    all.map((group) => group.reduce((n, sample) => n + of(sample), 0));
  const last = (of: (sample: HistorySample) => number) =>
    all.map((group) => group.slice(-1).reduce((_, sample) => of(sample), 0));
  return {
    times: all.map((group) => group.at(-1)?.at ?? ""),
    completed: sum(({ completed }) => completed),
    failed: sum(({ failed }) => failed),
    waiting: last(({ jobs }) => model.pipeline.reduce((n, state) => n + jobs[state], 0)),
    oldest: last(({ oldest_ready_seconds }) => oldest_ready_seconds),
  };
}
