/** Tables as kubectl prints them: no borders, one line each, made for grep and awk. Pure. */
import { type Paint, paintState } from "./paint.ts";
import { cut, pad, safe, widthOf } from "./text.ts";

export interface Column<T> {
  readonly title: string;
  readonly of: (item: T, show: Show) => string;
  /** Only with `-o wide`. */
  readonly wide?: true;
  readonly right?: true;
  /** May be cut when the terminal is too narrow. */
  readonly flexible?: true;
  /** It holds states: they have colours. */
  readonly state?: true;
}

/** How times are shown. */
export interface Show {
  readonly time: (time: string | null) => string;
}

const GAP = "  ";
const FLEXIBLE_MIN = 12;

export interface TableStyle extends Show {
  readonly paint: Paint;
  readonly wide: boolean;
  /** Infinity: nothing is cut. */
  readonly columns: number;
}

export function tableLines<T>(
  items: readonly T[],
  columns: readonly Column<T>[],
  style: TableStyle,
): readonly string[] {
  const shown = columns.filter(({ wide }) => wide !== true || style.wide);
  const cells = items.map((item) => shown.map((column) => safe(column.of(item, style)) || "-"));
  const widths = fit(
    shown.map(({ title }, i) => cells.reduce((most, row) => Math.max(most, widthOf(row[i] ?? "")), widthOf(title))),
    shown,
    style.columns,
  );
  const line = (row: readonly string[], head: boolean): string =>
    row
      .map((cell, i) => {
        const [column, width] = [shown[i], widths[i] ?? 0];
        const last = i === row.length - 1 && column?.right !== true;
        const text = cut(cell, width);
        const painted = !head && column?.state === true ? paintState(style.paint, text) : text;
        return last ? painted : pad(text, width, column?.right).replace(text, () => painted);
      })
      .join(GAP)
      .trimEnd();
  const head = line(
    shown.map(({ title }) => title),
    true,
  );
  return [style.paint.bold(head), ...cells.map((row) => line(row, false))];
}

/** Flexible columns give, the widest first, until the line fits. */
function fit<T>(natural: readonly number[], columns: readonly Column<T>[], room: number): readonly number[] {
  const widths = [...natural];
  const total = (): number => widths.reduce((sum, width) => sum + width, 0) + GAP.length * (widths.length - 1);
  while (total() > room) {
    const giving = widths
      .map((width, i) => ({ width, i }))
      .filter(({ width, i }) => columns[i]?.flexible === true && width > FLEXIBLE_MIN)
      .sort((a, b) => b.width - a.width)[0];
    if (giving === undefined) break;
    widths[giving.i] = Math.max(FLEXIBLE_MIN, giving.width - (total() - room));
  }
  return widths;
}

export type Field = readonly [label: string, value: string | null | undefined];

/** `Label:  value`, one thing in full. Fields without a value are left out. */
export function fieldLines(fields: readonly Field[], paint: Paint): readonly string[] {
  const given = fields.filter(([, value]) => value !== null && value !== undefined && value !== "");
  const width = given.reduce((most, [label]) => Math.max(most, label.length + 1), 0);
  return given.map(([label, value]) => {
    const text = safe(value ?? "");
    return `${pad(`${label}:`, width)}  ${label === "Status" ? paintState(paint, text) : text}`;
  });
}
