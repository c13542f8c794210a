/** Answers to stdout, in the form that was asked for. */
import { stringify } from "yaml";
import type { OutputForm } from "../command.ts";
import type { Io } from "../io.ts";
import { type Paint, paintFor } from "./paint.ts";
import { type Column, type Field, fieldLines, type Show, tableLines } from "./table.ts";
import { showSeconds } from "./text.ts";

export interface Listing<T> {
  /** What the API answered: for json and yaml. */
  readonly raw: unknown;
  readonly items: readonly T[];
  readonly columns: readonly Column<T>[];
  readonly nameOf: (item: T) => string;
  /** Said on stderr instead of an empty table. */
  readonly none: string;
}

export interface Printer extends Show {
  readonly form: OutputForm;
  readonly paint: Paint;
  list<T>(listing: Listing<T>): void;
  /** One thing: fields, then whatever else there is to say. */
  show(raw: unknown, name: string, lines: (printer: Printer) => readonly string[]): void;
  fields(fields: readonly Field[]): readonly string[];
  table<T>(items: readonly T[], columns: readonly Column<T>[]): readonly string[];
  /** What an action says when it is done. */
  done(raw: unknown, name: string, message: string): void;
  note(text: string): void;
}

export interface PrinterOptions {
  readonly form: OutputForm;
  readonly times: "relative" | "iso";
  readonly noColor: boolean;
}

export function makePrinter(io: Io, { form, times, noColor }: PrinterOptions): Printer {
  const { stdout, stderr } = io;
  const paint = paintFor(stdout.isTerminal, io.env, noColor);
  const time = (at: string | null): string => {
    if (at === null) return "";
    return times === "iso" ? at.replace(/\.\d+Z$/, "Z") : showSeconds((io.nowMs() - Date.parse(at)) / 1_000);
  };
  const say = (lines: readonly string[]): void => {
    if (lines.length > 0) stdout.write(`${lines.join("\n")}\n`);
  };
  const table = <T>(items: readonly T[], columns: readonly Column<T>[]): readonly string[] => {
    const room = stdout.isTerminal && form !== "wide" ? stdout.size().columns : Infinity;
    return tableLines(items, columns, { paint, time, wide: form === "wide", columns: room });
  };
  let documents = 0;
  const raw = (value: unknown): boolean => {
    if (form === "json") say([JSON.stringify(value, null, 2)]);
    // A line between two documents: without it the second would be read as more keys of the first.
    else if (form === "yaml") stdout.write(`${documents++ === 0 ? "" : "---\n"}${stringify(value, { lineWidth: 0 })}`);
    else return false;
    return true;
  };
  const printer: Printer = {
    form,
    paint,
    time,
    table,
    fields: (fields) => fieldLines(fields, paint),
    list({ raw: value, items, columns, nameOf, none }) {
      if (raw(value)) return;
      if (form === "name") say(items.map(nameOf));
      else if (items.length === 0) printer.note(none);
      else say(table(items, columns));
    },
    show(value, name, lines) {
      if (raw(value)) return;
      say(form === "name" ? [name] : lines(printer));
    },
    done(value, name, message) {
      if (raw(value)) return;
      say([form === "name" ? name : message]);
    },
    note: (text) => stderr.write(`${text}\n`),
  };
  return printer;
}
