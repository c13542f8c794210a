/** Charts over time, drawn by hand: few points, no axes to drag, and the numbers also in words. */
import { count } from "../format.ts";
import { barsOf, ceilingOf, runsOf } from "./chart-shapes.ts";
import type { Tone } from "./tones.ts";

export interface Series {
  readonly name: string;
  readonly tone: Tone;
  /** null: not known. */
  readonly values: readonly (number | null)[];
}

interface ChartProps {
  readonly title: string;
  readonly series: readonly Series[];
  /** Of each value, for the time below. */
  readonly times: readonly string[];
  readonly unit: (n: number) => string;
  /** Bars of several series stand upon each other. */
  readonly kind: "line" | "bars";
}

const WIDTH = 480;
const HEIGHT = 120;

const known = (values: Series["values"]): readonly number[] => values.filter((value) => value !== null);

function topOf(series: readonly Series[], kind: ChartProps["kind"]): number {
  if (kind === "line") return ceilingOf(series.flatMap(({ values }) => known(values)));
  const sums = (series[0]?.values ?? []).map((_, i) => series.reduce((sum, { values }) => sum + (values[i] ?? 0), 0));
  return ceilingOf(sums);
}

const clock = (iso: string | undefined): string =>
  iso === undefined ? "" : new Date(iso).toLocaleTimeString("en-GB").slice(0, 5);

export function Chart({ title, series, times, unit, kind }: ChartProps) {
  const top = topOf(series, kind);
  const now = (values: Series["values"]): string => unit(known(values).at(-1) ?? 0);
  const spoken = series
    .map(
      ({ name, values }) =>
        `${name} ${now(values)}, at most ${unit(known(values).reduce((most, each) => Math.max(most, each), 0))}`,
    )
    .join("; ");
  return (
    <figure class="chart">
      <figcaption>
        <strong>{title}</strong>
        <span class="legend">
          {series.map(({ name, tone, values }) => (
            <span key={name} class={tone}>
              {name} <b>{now(values)}</b>
            </span>
          ))}
        </span>
      </figcaption>
      <svg
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`${title}, the last hour. Now ${spoken}.`}
      >
        {[0.25, 0.5, 0.75].map((share) => (
          <line key={share} class="grid" x1="0" x2={WIDTH} y1={HEIGHT * share} y2={HEIGHT * share} />
        ))}
        {series.map((each, i) =>
          kind === "line" ? (
            <Lines key={each.name} series={each} top={top} />
          ) : (
            <Bars key={each.name} series={each} below={series.slice(0, i)} top={top} />
          ),
        )}
      </svg>
      <div class="axis" aria-hidden="true">
        <span>{clock(times[0])}</span>
        <span>scale to {unit(top)}</span>
        <span>{clock(times.at(-1))}</span>
      </div>
    </figure>
  );
}

interface DrawnProps {
  readonly series: Series;
  readonly top: number;
}

function Lines({ series: { tone, values }, top }: DrawnProps) {
  const step = WIDTH / Math.max(1, values.length);
  const y = (value: number): string => (HEIGHT - (value / top) * HEIGHT).toFixed(1);
  return (
    <g class={tone}>
      {runsOf(values).map((run) => {
        // Each value holds for its minute: a single one can be seen too.
        const steps = run.values.map(
          (value, i) => `L${(run.from + i) * step} ${y(value)}H${(run.from + i + 1) * step}`,
        );
        const line = steps.join("").replace(/^L/, "M");
        const end = (run.from + run.values.length) * step;
        return (
          <g key={run.from}>
            <path class="area" d={`${line}L${end} ${HEIGHT}L${run.from * step} ${HEIGHT}Z`} />
            <path class="line" d={line} />
          </g>
        );
      })}
    </g>
  );
}

const Bars = ({ series: { tone, values }, below, top }: DrawnProps & { readonly below: readonly Series[] }) => (
  <g class={tone}>
    {barsOf(
      values,
      below.map((each) => each.values),
      top,
      WIDTH,
      HEIGHT,
    ).map(({ value, ...box }) => (
      <rect key={box.x} {...box}>
        <title>{count(value)}</title>
      </rect>
    ))}
  </g>
);
