/** Where everything stands in the picture of the pipeline. Pure: drawn from the model and one look at the fleet. */
import type { Model, Overview } from "@sluice/wire";

type StageNow = Overview["stages"][number];

export interface Basin {
  readonly state: string;
  readonly says: string;
  readonly jobs: number;
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
  /** null: nobody works this state. */
  readonly stage: StageNow | null;
  /** 0 to 1: how full it looks. */
  readonly level: number;
}

export interface Channel {
  readonly path: string;
  /** Not the ordinary way. */
  readonly aside: boolean;
  readonly flowing: boolean;
}

export interface Flow {
  readonly width: number;
  readonly height: number;
  readonly basins: readonly Basin[];
  readonly channels: readonly Channel[];
}

const FULL_AT = 10_000;

/** By magnitude: one job can be seen, and ten thousand still fit. */
export const levelOf = (jobs: number): number =>
  jobs === 0 ? 0 : Math.min(1, 0.12 + (0.88 * Math.log10(jobs + 1)) / Math.log10(FULL_AT + 1));

interface Shape {
  readonly width: number;
  readonly height: number;
  readonly gap: number;
}

const WIDE: Shape = { width: 104, height: 112, gap: 16 };
const TALL: Shape = { width: 328, height: 62, gap: 14 };
const EDGE = 4;
/** Below the row of stages: the states in which jobs rest. */
const REST_GAP = 52;

export function flowOf(model: Model, now: Overview, tall: boolean): Flow {
  const shape = tall ? TALL : WIDE;
  const rests = model.job_states.map(({ state }) => state).filter((state) => !model.pipeline.includes(state));
  const at = (i: number): { readonly x: number; readonly y: number } =>
    tall ? { x: EDGE, y: EDGE + i * (shape.height + shape.gap) } : { x: EDGE + i * (shape.width + shape.gap), y: EDGE };
  const basin = (state: string, place: { readonly x: number; readonly y: number }): Basin => {
    const row = model.job_states.find((each) => each.state === state);
    const jobs = now.jobs[row?.state ?? "Pending"];
    const stage = now.stages.find((each) => each.state === state) ?? null;
    return {
      state,
      says: row?.says ?? "",
      jobs,
      ...place,
      width: shape.width,
      height: shape.height,
      stage,
      level: levelOf(jobs),
    };
  };
  const line = model.pipeline.map((state, i) => basin(state, at(i)));
  const moving = now.completed_per_minute > 0 && now.queue_paused === null;
  const below = placeRests(rests, line.length, shape, tall);
  const resting = rests.map((state, i) => basin(state, below[i] ?? at(0)));
  const width = tall ? shape.width + 2 * EDGE : at(line.length).x - shape.gap + EDGE;
  const lowest = Math.max(...[...line, ...resting].map(({ y, height }) => y + height));
  return {
    width,
    height: lowest + EDGE,
    basins: [...line, ...resting],
    channels: [
      ...line.slice(1).map((to, i) => ({ path: between(line[i] ?? to, to, tall), aside: false, flowing: moving })),
      ...(tall ? [] : resting.map((rest) => asideTo(rest, line))),
    ],
  };
}

/** In the wide picture they are spread below the row, in the tall one they follow it. */
function placeRests(rests: readonly string[], stages: number, shape: Shape, tall: boolean) {
  if (tall) return rests.map((_, i) => ({ x: EDGE, y: EDGE + (stages + i) * (shape.height + shape.gap) + shape.gap }));
  const step = shape.width + shape.gap;
  const span = stages - 1;
  return rests.map((_, i) => ({
    x: EDGE + Math.round((i * span) / Math.max(1, rests.length - 1)) * step,
    y: EDGE + shape.height + REST_GAP,
  }));
}

const between = (from: Basin, to: Basin, tall: boolean): string =>
  tall
    ? `M${from.x + from.width / 2} ${from.y + from.height}V${to.y - 3}`
    : `M${from.x + from.width} ${from.y + from.height / 2}H${to.x - 3}`;

/** From the stage that stands above. */
function asideTo(rest: Basin, line: readonly Basin[]): Channel {
  const middle = rest.x + rest.width / 2;
  const above = line.find(({ x, width }) => Math.abs(x + width / 2 - middle) < 1) ?? line[0] ?? rest;
  return { path: `M${middle} ${above.y + above.height}V${rest.y - 3}`, aside: true, flowing: false };
}
