/** Charts over time, drawn by hand: few points, no axes to drag, and the numbers also in words. */
import { count } from "../format.ts";
import type { Tone } from "./tones.ts";

export interface Series {
  readonly name: string;
  readonly tone: Tone;
  readonly values: readonly number[];
}

interface ChartProps {
  readonly title: string;
  readonly series: readonly Series[];
  /** Of each value, for the time below. */
  readonly times: readonly string[];
  readonly unit: (n: number) => string;
  readonly kind: "line" | "bars";
}

const WIDTH = 480;
const HEIGHT = 120;

/** A round number not below the highest value, so that the scale can be read. */
export function ceilingOf(values: readonly number[]): number {
  const highest = Math.max(1, ...values);
  const step = 10 ** Math.floor(Math.log10(highest));
  return [1, 2, 5, 10].map((n) => n * step).find((n) => n >= highest) ?? highest;
}

export function linePath(values: readonly number[], top: number, width: number, height: number): string {
  const x = (i: number): number => (values.length < 2 ? width : (i / (values.length - 1)) * width);
  return values
    .map((value, i) => `${i === 0 ? "M" : "L"}${x(i).toFixed(1)} ${(height - (value / top) * height).toFixed(1)}`)
    .join("");
}

export function Chart({ title, series, times, unit, kind }: ChartProps) {
  const top = ceilingOf(series.flatMap(({ values }) => values));
  const last = series.map(({ name, values }) => `${name} ${unit(values.at(-1) ?? 0)}`).join(", ");
  const highest = series.map(({ name, values }) => `${name} at most ${unit(Math.max(0, ...values))}`).join(", ");
  const clock = (iso: string | undefined): string =>
    iso === undefined ? "" : new Date(iso).toLocaleTimeString("en-GB").slice(0, 5);
  return (
    <figure class="chart">
      <figcaption>
        <strong>{title}</strong>
        <span class="legend">
          {series.map(({ name, tone, values }) => (
            <span key={name} class={tone}>
              {name} <b>{unit(values.at(-1) ?? 0)}</b>
            </span>
          ))}
        </span>
      </figcaption>
      <svg
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`${title}. Now: ${last}. ${highest}.`}
      >
        {[0.25, 0.5, 0.75].map((share) => (
          <line key={share} class="grid" x1="0" x2={WIDTH} y1={HEIGHT * share} y2={HEIGHT * share} />
        ))}
        {series.map((each) =>
          kind === "line" ? (
            <LineOf key={each.name} series={each} top={top} />
          ) : (
            <BarsOf key={each.name} series={each} top={top} />
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

const LineOf = ({ series: { tone, values }, top }: DrawnProps) => {
  const line = linePath(values, top, WIDTH, HEIGHT);
  return (
    <g class={tone}>
      <path class="area" d={`${line}L${WIDTH} ${HEIGHT}L0 ${HEIGHT}Z`} />
      <path class="line" d={line} />
    </g>
  );
};

function BarsOf({ series: { tone, values }, top }: DrawnProps) {
  const step = WIDTH / Math.max(1, values.length);
  return (
    <g class={tone}>
      {values.map((value, i) =>
        value === 0 ? null : (
          <rect
            key={i}
            x={i * step}
            width={Math.max(1, step * 0.8)}
            y={HEIGHT - (value / top) * HEIGHT}
            height={(value / top) * HEIGHT}
          >
            <title>{count(value)}</title>
          </rect>
        ),
      )}
    </g>
  );
}
