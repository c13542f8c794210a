/** The pipeline in lines: what `sluice top` draws, and `sluice queue show` prints. Pure. */
import type { Overview, StageView } from "@sluice/wire";
import type { Printer } from "../output/printer.ts";
import { cut, pad, safe, showBytes, showSeconds } from "../output/text.ts";

type Painter = Pick<Printer, "paint" | "time">;

const BAR = 20;

export function overviewLines(overview: Overview, { paint, time }: Painter, width: number): readonly string[] {
  const { jobs, batches, stages, failures } = overview;
  const { completed_per_minute: done, failed_per_minute: failed } = overview;
  const paused = overview.queue_paused;
  const lines = [
    `${paint.bold("Sluice")}  fleet ${safe(overview.fleet_id)}  ${overview.at}`,
    `jobs     ${counts(jobs)}`,
    `batches  ${counts(batches)}`,
    `rates    ${done.toFixed(1)} completed/min  ${failed > 0 ? paint.red(`${failed.toFixed(1)} failed/min`) : "0 failed/min"}`,
    ...(overview.space === null ? [] : [spaceLine(overview.space)]),
    ...(paused === null
      ? []
      : [paint.yellow(`PAUSED   by ${safe(paused.by)}: ${safe(paused.why)}${untilText(paused.until)}`)]),
    ...overview.held_collections.map((hold) =>
      paint.yellow(`HELD     ${safe(hold.collection)} by ${safe(hold.by)}: ${safe(hold.why)}${untilText(hold.until)}`),
    ),
    "",
    paint.bold(
      `${pad("STAGE", 13)} ${pad("WAITING", 9, true)} ${pad("READY", 9, true)} ${pad("OLDEST", 7, true)} ${pad("IN HAND", 8, true)} ${pad("WORKERS", 8, true)}`,
    ),
    ...stages.map((stage) => stageLine(stage, mostWaiting(stages), { paint })),
    ...(failures.length === 0 ? [] : ["", paint.bold("FAILURES")]),
    ...failures.map(
      ({ code, count, example, remedy }) =>
        `${paint.red(pad(String(count), 6, true))}  ${safe(example.message.startsWith(`${code}: `) ? example.message : `${code}: ${example.message}`)} (${safe(example.id)}, ${time(example.at)}; ${safe(remedy)})`,
    ),
  ];
  return lines.map((line) => (width === Infinity ? line : cutPainted(line, width)));
}

const counts = (by: Readonly<Record<string, number>>): string =>
  Object.entries(by)
    .filter(([, count]) => count > 0)
    .map(([state, count]) => `${state} ${count.toLocaleString("en")}`)
    .join(", ") || "none";

const untilText = (until: string | null): string => (until === null ? "" : ` (until ${until})`);
const mostWaiting = (stages: readonly StageView[]): number =>
  stages.reduce((most, { waiting }) => Math.max(most, waiting), 1);

function spaceLine({
  volume_bytes: volume,
  free_bytes: free,
  reserved_bytes: reserved,
  admit_below: share,
}: NonNullable<Overview["space"]>): string {
  const used = volume === 0 ? 0 : ((volume - free) / volume) * 100;
  return `space    ${showBytes(free)} free of ${showBytes(volume)} (${used.toFixed(0)} % used, jobs admitted below ${(share * 100).toFixed(0)} %), ${showBytes(reserved)} needed`;
}

function stageLine(stage: StageView, most: number, { paint }: Pick<Painter, "paint">): string {
  const { waiting, ready, exact, oldest_ready_seconds: oldest, workers, in_hand: inHand, paused } = stage;
  const bar = "▇".repeat(Math.ceil((waiting / most) * BAR));
  const numbers = [
    pad(stage.stage, 13),
    pad(waiting.toLocaleString("en"), 9, true),
    pad(`${exact ? "" : "~"}${ready.toLocaleString("en")}`, 9, true),
    pad(ready === 0 ? "-" : showSeconds(oldest), 7, true),
    pad(String(inHand), 8, true),
    pad(String(workers), 8, true),
  ].join(" ");
  const trouble = workers === 0 ? paint.red("  no workers") : "";
  const hold = paused === null ? "" : paint.yellow(`  paused by ${safe(paused.by)}: ${safe(paused.why)}`);
  return `${numbers}  ${paint.dim(bar)}${trouble}${hold}`;
}

/** A line with colours in it: they take no room. */
const CODES = /(\u001b\[\d+m)/;

function cutPainted(line: string, width: number): string {
  let room = width;
  return line
    .split(CODES)
    .map((part) => {
      if (CODES.test(part)) return part;
      const kept = cut(part, room);
      room -= Math.min(room, part.length);
      return kept;
    })
    .join("");
}
