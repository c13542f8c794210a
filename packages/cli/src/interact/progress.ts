/** How far it is, on stderr: bars that stay in place on a terminal, a line now and then elsewhere. */
import type { Io } from "../io.ts";
import { cut, pad, safe, showBytes, widthOf } from "../output/text.ts";

export interface Bar {
  readonly label: string;
  readonly done: number;
  /** null: nobody knows yet. */
  readonly total: number | null;
  readonly unit: "bytes" | "count";
  readonly note?: string;
}

export interface Progress {
  update(bars: readonly Bar[]): void;
  /** Leaves the last picture standing. */
  end(): void;
}

const PLAIN_EVERY_MS = 5_000;
const REDRAW_EVERY_MS = 100;
const BAR_WIDTH = 24;

export function makeProgress(io: Pick<Io, "stderr" | "nowMs">): Progress {
  return io.stderr.isTerminal ? bars(io) : plainLines(io);
}

export function barText({ label, done, total, unit, note }: Bar, labelWidth: number, width: number): string {
  const show = unit === "bytes" ? showBytes : (count: number): string => count.toLocaleString("en");
  const share = total === null || total <= 0 ? 0 : Math.min(1, done / total);
  const full = Math.floor(share * BAR_WIDTH);
  const bar = total === null ? "" : `${"█".repeat(full)}${"░".repeat(BAR_WIDTH - full)}  `;
  const amount = total === null ? show(done) : `${show(done)}/${show(total)}`;
  return cut(`${pad(safe(label), labelWidth)}  ${bar}${amount}${note === undefined ? "" : `  ${safe(note)}`}`, width);
}

const linesOf = (shown: readonly Bar[], width: number): readonly string[] => {
  const labelWidth = shown.reduce((most, { label }) => Math.max(most, widthOf(safe(label))), 0);
  return shown.map((bar) => barText(bar, labelWidth, width));
};

function bars({ stderr, nowMs }: Pick<Io, "stderr" | "nowMs">): Progress {
  let drawn = 0;
  let latest: readonly Bar[] = [];
  let lastMs = -Infinity;
  const draw = (): void => {
    const lines = linesOf(latest, stderr.size().columns - 1);
    const up = drawn === 0 ? "" : `\u001b[${drawn}A`;
    stderr.write(`${up}${lines.map((line) => `\r\u001b[2K${line}\n`).join("")}\u001b[J`);
    drawn = lines.length;
    lastMs = nowMs();
  };
  return {
    update(next) {
      latest = next;
      if (nowMs() - lastMs >= REDRAW_EVERY_MS) draw();
    },
    end() {
      if (latest.length > 0) draw();
      drawn = 0;
      latest = [];
    },
  };
}

function plainLines({ stderr, nowMs }: Pick<Io, "stderr" | "nowMs">): Progress {
  let said = "";
  let lastMs = nowMs();
  let latest = "";
  const say = (): void => {
    if (latest !== said && latest !== "") stderr.write(`${latest}\n`);
    said = latest;
    lastMs = nowMs();
  };
  return {
    update(next) {
      latest = next
        .map((bar) => barText({ ...bar, total: bar.total }, 0, Infinity).replace(/ {2}[█░]+/, ""))
        .join("; ");
      if (nowMs() - lastMs >= PLAIN_EVERY_MS) say();
    },
    end: say,
  };
}
