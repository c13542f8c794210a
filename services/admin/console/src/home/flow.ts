/** Where everything stands in the picture of the pipeline. Pure: drawn from the model and one look at the fleet. */
import type { Model, Overview } from "@sluice/wire";
import { type Tone, toneOfState } from "../ui/tones.ts";

type StageNow = Overview["stages"][number];

export interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

export interface Basin extends Box {
  readonly state: string;
  readonly says: string;
  readonly jobs: number;
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

const WIDE = { width: 134, height: 104, gap: 24, restHeight: 66, restGap: 46 } as const;
const TALL = { width: 328, height: 62, gap: 16 } as const;
const EDGE = 4;
/** Between a stage and what it touches. */
const TIP = 3;

/** What rests, from the first to leave the way to the last: held, failed, given up, arrived. */
const REST_ORDER: readonly Tone[] = ["warn", "bad", "active", "idle", "good"];

export function flowOf(model: Model, now: Overview, tall: boolean): Flow {
  const basin = (state: string, box: Box): Basin => {
    const row = model.job_states.find((each) => each.state === state);
    const jobs = row === undefined ? 0 : now.jobs[row.state];
    const stage = now.stages.find((each) => each.state === state) ?? null;
    return { state, says: row?.says ?? "", jobs, ...box, stage, level: levelOf(jobs) };
  };
  const rests = model.job_states
    .filter(({ state, merritts }) => !merritts || now.jobs[state] > 0)
    .map(({ state }) => state)
    .filter((state) => !model.pipeline.some((each) => each === state))
    .toSorted((a, b) => REST_ORDER.indexOf(toneOfState(a)) - REST_ORDER.indexOf(toneOfState(b)));
  const boxes = tall ? tallBoxes(model.pipeline.length, rests.length) : wideBoxes(model.pipeline.length, rests.length);
  const line = model.pipeline.flatMap((state, i) => (boxes[i] === undefined ? [] : [basin(state, boxes[i])]));
  const resting = rests.flatMap((state, i) => {
    const box = boxes[line.length + i];
    return box === undefined ? [] : [basin(state, box)];
  });
  const flowing = now.completed_per_minute > 0 && now.queue_paused === null;
  return {
    width: boxes.reduce((most, { x, width }) => Math.max(most, x + width), 0) + EDGE,
    height: boxes.reduce((most, { y, height }) => Math.max(most, y + height), 0) + EDGE,
    basins: [...line, ...resting],
    channels: [
      ...line.slice(1).map((to, i) => ({ path: between(line[i] ?? to, to, tall), aside: false, flowing })),
      ...(tall ? [] : resting.map((rest) => wayTo(rest, line, resting, flowing))),
    ],
  };
}

const tallBoxes = (stages: number, rests: number): readonly Box[] =>
  Array.from({ length: stages + rests }, (_, i) => ({
    x: EDGE,
    y: EDGE + i * (TALL.height + TALL.gap),
    width: TALL.width,
    height: TALL.height,
  }));

/** The stages in a row; below them what rests: the first under the first stage, the last under the last, others between. */
function wideBoxes(stages: number, rests: number): readonly Box[] {
  const { width, height, gap, restHeight, restGap } = WIDE;
  const column = (i: number): number => EDGE + i * (width + gap);
  const middle = Math.floor((stages - 1) / 2);
  const restColumn = (i: number): number => (i === 0 ? 0 : i === rests - 1 ? stages - 1 : middle + i - 1);
  return [
    ...Array.from({ length: stages }, (_, i) => ({ x: column(i), y: EDGE, width, height })),
    ...Array.from({ length: rests }, (_, i) => ({
      x: column(restColumn(i)),
      y: EDGE + height + restGap,
      width,
      height: restHeight,
    })),
  ];
}

const between = (from: Box, to: Box, tall: boolean): string =>
  tall
    ? `M${centre(from)} ${from.y + from.height}V${to.y - TIP}`
    : `M${from.x + from.width} ${from.y + from.height / 2}H${to.x - TIP}`;

const centre = ({ x, width }: Box): number => x + width / 2;

/** Jobs fail in any stage, arrive after the last, are held in the first, and are given up from where they rest. */
function wayTo(rest: Basin, line: readonly Basin[], resting: readonly Basin[], flowing: boolean): Channel {
  const tone = toneOfState(rest.state);
  const bottom = (line[0]?.y ?? 0) + (line[0]?.height ?? 0);
  const straight = (aside: boolean, shift: number): Channel => ({
    path: `M${centre(rest) + shift} ${bottom}V${rest.y - TIP}`,
    aside,
    flowing: !aside && flowing,
  });
  if (tone === "good") return straight(false, 0);
  if (tone === "warn") return straight(true, -24);
  if (tone === "bad") return { path: collected(rest, line, bottom), aside: true, flowing: false };
  const before = resting[resting.indexOf(rest) - 1];
  return before === undefined ? straight(true, 0) : { path: between(before, rest, false), aside: true, flowing: false };
}

function collected(rest: Box, line: readonly Box[], bottom: number): string {
  const bus = bottom + (rest.y - bottom) / 2;
  const shift = 24;
  const drops = line.map((stage) => `M${centre(stage) + shift} ${bottom}V${bus}`).join("");
  const [first, last] = [line[0] ?? rest, line.at(-1) ?? rest];
  return `${drops}M${centre(first) + shift} ${bus}H${centre(last) + shift}M${centre(rest)} ${bus}V${rest.y - TIP}`;
}
