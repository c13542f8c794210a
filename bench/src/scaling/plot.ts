/** Both runs over the same time: for each stage what was ready, and below it the replicas. */
import { type Stage, STAGES } from "@sluice/queue-core";
import type { Mode } from "./run.ts";
import { curve, document, line, type Point, steps, text } from "./svg.ts";
import type { Moment, StageMoment } from "./timeline.ts";

export type Runs = Readonly<Record<Mode, readonly Moment[]>>;

const COLOURS: Readonly<Record<Mode, string>> = { fixed: "#c0392b", autoscaled: "#1f6fb2" };
const NAMES: Readonly<Record<Mode, string>> = { fixed: "one replica of each stage", autoscaled: "autoscaled" };
const MODES = ["fixed", "autoscaled"] as const;

const WIDTH = 960;
const HEAD = 46;
const COLUMNS = 2;
const CELL = { width: WIDTH / COLUMNS, height: 206 };
const AREA = { left: 44, right: 14, readyTop: 24, readyHeight: 90, replicasTop: 130, replicasHeight: 44 };
const TICK_SECONDS = 30;

export function plot(runs: Runs, subtitle: string): string {
  const seconds = Math.max(...MODES.flatMap((mode) => runs[mode].map((moment) => moment.seconds)));
  const rows = Math.ceil(STAGES.length / COLUMNS);
  const cells = STAGES.flatMap((stage, n) =>
    cell(runs, stage, seconds, [(n % COLUMNS) * CELL.width, HEAD + Math.floor(n / COLUMNS) * CELL.height]),
  );
  return document(WIDTH, HEAD + rows * CELL.height, "Ready jobs and replicas of each stage under a wave", [
    text([14, 20], "Ready jobs (above) and replicas (below) of each stage, over seconds", {
      size: 14,
      bold: true,
      colour: "#222",
    }),
    text([14, 37], subtitle),
    ...MODES.map((mode, n) =>
      text([WIDTH - 14 - (1 - n) * 90, 20], `— ${NAMES[mode]}`, {
        size: 12,
        anchor: "end",
        colour: COLOURS[mode],
        bold: true,
      }),
    ),
    ...cells,
  ]);
}

function cell(runs: Runs, stage: Stage, seconds: number, [left, top]: Point): readonly string[] {
  const width = CELL.width - AREA.left - AREA.right;
  const x = (second: number): number => left + AREA.left + (second / seconds) * width;
  const panel = (offset: number, height: number, valueOf: (moment: StageMoment) => number) => {
    const most = Math.max(1, ...MODES.flatMap((mode) => runs[mode].map(({ stages }) => valueOf(stages[stage]))));
    const bottom = top + offset + height;
    const y = (value: number): number => bottom - (value / most) * height;
    return [
      line([x(0), bottom], [x(seconds), bottom], "#999"),
      line([x(0), y(most)], [x(seconds), y(most)], "#ddd", "2 3"),
      text([x(0) - 6, bottom + 4], "0", { anchor: "end" }),
      text([x(0) - 6, y(most) + 4], String(most), { anchor: "end" }),
      ...MODES.map((mode) => {
        const points = runs[mode].map((moment): Point => [x(moment.seconds), y(valueOf(moment.stages[stage]))]);
        return curve(steps(points), COLOURS[mode]);
      }),
    ];
  };
  const ticks = Array.from({ length: Math.floor(seconds / TICK_SECONDS) + 1 }, (_, n) => n * TICK_SECONDS);
  return [
    text([left + AREA.left, top + 14], stage, { size: 13, bold: true, colour: "#222" }),
    ...panel(AREA.readyTop, AREA.readyHeight, ({ ready }) => ready ?? 0),
    ...panel(AREA.replicasTop, AREA.replicasHeight, ({ replicas }) => replicas),
    ...ticks.map((tick) =>
      text([x(tick), top + AREA.replicasTop + AREA.replicasHeight + 14], String(tick), { size: 10, anchor: "middle" }),
    ),
  ];
}
