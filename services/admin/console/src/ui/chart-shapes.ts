/** Where lines and bars of a chart go. Pure. */
type Values = readonly (number | null)[];

/** A round number not below the highest value, so that the scale can be read. */
export function ceilingOf(values: readonly number[]): number {
  const highest = values.reduce((most, each) => Math.max(most, each), 1);
  const step = 10 ** Math.floor(Math.log10(highest));
  return [1, 2, 5, 10].map((n) => n * step).find((n) => n >= highest) ?? highest;
}

export interface Run {
  readonly from: number;
  readonly values: readonly number[];
}

/** The stretches without a gap. */
export function runsOf(values: Values): readonly Run[] {
  const runs: { from: number; values: number[] }[] = [];
  values.forEach((value, i) => {
    if (value === null) return;
    const last = runs.at(-1);
    if (last !== undefined && last.from + last.values.length === i) last.values.push(value);
    else runs.push({ from: i, values: [value] });
  });
  return runs;
}

export interface Slot {
  readonly x: number;
  readonly width: number;
  readonly y: number;
  readonly height: number;
  readonly value: number;
}

/** Bars that stand upon those of the series before. */
export function barsOf(
  values: Values,
  below: readonly Values[],
  top: number,
  width: number,
  height: number,
): readonly Slot[] {
  const step = width / Math.max(1, values.length);
  return values.flatMap((value, i) => {
    if (value === null || value === 0) return [];
    const under = below.reduce((sum, series) => sum + (series[i] ?? 0), 0);
    const high = (value / top) * height;
    return [
      { x: i * step, width: Math.max(1, step * 0.8), y: height - (under / top) * height - high, height: high, value },
    ];
  });
}
