import { describe, expect, test } from "@jest/globals";
import type { Overview } from "@sluice/wire";
import { parse, parseAllDocuments } from "yaml";
import { EXIT, worst } from "../src/exit-codes.ts";
import { barText, makeProgress } from "../src/interact/progress.ts";
import type { Io } from "../src/io.ts";
import { paintFor } from "../src/output/paint.ts";
import { makePrinter } from "../src/output/printer.ts";
import { tell } from "../src/output/problem.ts";
import { type Column, fieldLines, tableLines } from "../src/output/table.ts";
import { cut, safe, showBytes, showSeconds, widthOf } from "../src/output/text.ts";
import { overviewLines } from "../src/top/overview-lines.ts";

const PLAIN = paintFor(false, {}, false);
const COLOUR = paintFor(true, {}, false);
const time = (at: string | null): string => at ?? "";

interface Row {
  readonly id: string;
  readonly state: string;
  readonly text: string;
}
const COLUMNS: readonly Column<Row>[] = [
  { title: "ID", of: ({ id }) => id },
  { title: "STATUS", of: ({ state }) => state, state: true },
  { title: "TEXT", of: ({ text }) => text, flexible: true },
  { title: "MORE", of: () => "more", wide: true },
];
const ROWS: readonly Row[] = [
  { id: "jid1", state: "Failed", text: "a long text that does not fit into a narrow window" },
  { id: "jid22", state: "Completed", text: "" },
];

describe("a table", () => {
  test("is one line each, without borders, and marks what is empty", () => {
    expect(tableLines(ROWS, COLUMNS, { paint: PLAIN, wide: false, columns: Infinity, time })).toEqual([
      "ID     STATUS     TEXT",
      "jid1   Failed     a long text that does not fit into a narrow window",
      "jid22  Completed  -",
    ]);
  });

  test("is cut to the window in its flexible columns only", () => {
    const lines = tableLines(ROWS, COLUMNS, { paint: PLAIN, wide: true, columns: 45, time });
    expect(lines.map(widthOf).every((width) => width <= 45)).toBe(true);
    expect(lines[1]).toBe("jid1   Failed     a long text that doe…  more");
  });

  test("paints states without moving columns", () => {
    const [, failed] = tableLines(ROWS, COLUMNS, { paint: COLOUR, wide: false, columns: Infinity, time });
    expect(failed).toContain("\u001b[31mFailed\u001b[39m     a long");
  });

  test("never lets a depositor's text move the cursor or turn the line", () => {
    const evil = [{ id: "x", state: "Held", text: "\u001b[2Jgone\r\n\u202eleft\u0007" }];
    const [, line] = tableLines(evil, COLUMNS, { paint: PLAIN, wide: false, columns: Infinity, time });
    expect(line).toBe("x   Held    �[2Jgone �left�");
  });
});

test("several answers in YAML are several documents", () => {
  let out = "";
  const size = () => ({ columns: 80, rows: 24 });
  const stream = { isTerminal: false, size, write: (text: string) => (out += text) };
  const io = { stdout: stream, stderr: stream, env: {}, nowMs: () => 0 } as unknown as Io;
  const printer = makePrinter(io, { form: "yaml", times: "iso", noColor: true });
  const answers = [{ id: "bid1" }, { id: "bid2" }];
  for (const answer of answers) printer.done(answer, answer.id, "done");
  expect(
    parseAllDocuments(out)
      .map(String)
      .map((text): unknown => parse(text)),
  ).toEqual(answers);
});

test("fields without a value are left out", () => {
  expect(
    fieldLines(
      [
        ["Job", "jid1"],
        ["Message", ""],
        ["Title", null],
        ["Status", "Held"],
      ],
      PLAIN,
    ),
  ).toEqual(["Job:     jid1", "Status:  Held"]);
});

test("colour only on a terminal, and not when it is not wanted", () => {
  expect(paintFor(true, { NO_COLOR: "1" }, false)).toBe(PLAIN);
  expect(paintFor(true, { NO_COLOR: "" }, false)).toBe(COLOUR);
  expect(paintFor(true, { TERM: "dumb" }, false)).toBe(PLAIN);
  expect(paintFor(true, {}, true)).toBe(PLAIN);
});

test("widths and amounts", () => {
  expect([widthOf("abc"), widthOf("日本"), widthOf("é"), widthOf("🎉")]).toEqual([3, 4, 1, 2]);
  expect([cut("日本語", 5), cut("abc", 3), cut("abcd", 3)]).toEqual(["日本…", "abc", "ab…"]);
  expect([showBytes(0), showBytes(999), showBytes(1_500), showBytes(2_000_000_000_000)]).toEqual([
    "0 B",
    "999 B",
    "1.5 kB",
    "2.0 TB",
  ]);
  expect([showSeconds(59), showSeconds(600), showSeconds(90_000), showSeconds(-5)]).toEqual([
    "59s",
    "10m",
    "25h",
    "0s",
  ]);
  expect(safe("a\tb\nc")).toBe("a b c");
});

describe("a problem says what was refused, why, its code, its request, and what to do next:", () => {
  const refusal = (status: number) => ({
    status,
    code: "STATE_FORBIDS",
    title: "no",
    detail: "jid1 is Completed since 10:03, by olga",
    instance: "req-7",
    errors: [{ field: "profile", detail: "is missing" }],
  });
  test.each([
    [401, EXIT.refused, "SLUICE_TOKEN"],
    [403, EXIT.refused, "sluice whoami"],
    [404, EXIT.notFound, "check the id"],
    [409, EXIT.refused, "look at it again"],
    [422, EXIT.usage, "sluice job show --help"],
    [429, EXIT.refused, "wait 60 s"],
    [503, EXIT.error, "repeat in 10 s"],
    [500, EXIT.error, "service's log"],
  ])("%i", (status, code, next) => {
    const told = tell({ ok: false, kind: "refused", refusal: refusal(status) }, "job show", "context production");
    expect(told.code).toBe(code);
    expect(told.lines.slice(0, 3)).toEqual([
      "sluice job show: jid1 is Completed since 10:03, by olga",
      "  profile: is missing",
      `  ${status} STATE_FORBIDS, request req-7`,
    ]);
    expect(told.lines[3]).toContain(next);
  });

  test("silence names the address and where it came from", () => {
    const why = "http://127.0.0.1:1/v1/me cannot be reached: connect ECONNREFUSED";
    const { lines, code } = tell({ ok: false, kind: "unreachable", why }, "whoami", "context production");
    expect(code).toBe(EXIT.error);
    expect(lines.join("\n")).toContain(why);
    expect(lines.join("\n")).toContain("context production");
    expect(lines.join("\n")).toContain("npm start");
  });
});

test("of several outcomes the worst is told", () => {
  expect(worst([])).toBe(0);
  expect(worst([0, 2, 4, 3])).toBe(4);
  expect(worst([4, 1])).toBe(1);
});

describe("progress", () => {
  const bar = { label: "upload", done: 500, total: 1_000, unit: "bytes" } as const;
  const sink = (isTerminal: boolean) => {
    const written: string[] = [];
    return {
      written,
      write: (text: string) => void written.push(text),
      isTerminal,
      size: () => ({ columns: 60, rows: 20 }),
    };
  };

  test("is a bar in place on a terminal", () => {
    const stderr = sink(true);
    let now = 0;
    const progress = makeProgress({ stderr, nowMs: () => (now += 1_000) });
    progress.update([bar]);
    progress.update([{ ...bar, done: 1_000 }]);
    progress.end();
    expect(stderr.written[0]).toContain("████████████░░░░░░░░░░░░  500 B/1.0 kB");
    expect(stderr.written[1]).toContain("\u001b[1A");
    expect(widthOf(barText(bar, 0, 20))).toBeLessThanOrEqual(20);
  });

  test("is a line every few seconds elsewhere, and one at the end", () => {
    const stderr = sink(false);
    let now = 0;
    const progress = makeProgress({ stderr, nowMs: () => now });
    progress.update([{ ...bar, done: 1 }]);
    now = 6_000;
    progress.update([bar]);
    progress.update([{ ...bar, done: 900 }]);
    progress.end();
    expect(stderr.written).toEqual(["upload  500 B/1.0 kB\n", "upload  900 B/1.0 kB\n"]);
  });
});

test("the picture of the pipeline shows pauses, stages without workers and failures, and fits the window", () => {
  const hold = { by: "olga", since: null, why: "maintenance", until: null };
  const zero = {
    Pending: 0,
    Held: 0,
    Estimating: 0,
    Provisioning: 0,
    Downloading: 7,
    Processing: 0,
    Recording: 0,
    Notify: 0,
    Failed: 2,
    Completed: 0,
    Deleted: 0,
  };
  const overview = {
    at: "2026-11-16T08:00:00Z",
    fleet_id: "f1",
    jobs: zero,
    batches: { Processing: 1 },
    stages: [
      {
        stage: "downloader",
        state: "Downloading",
        waiting: 7,
        ready: 5,
        exact: false,
        oldest_ready_seconds: 125,
        workers: 0,
        in_hand: 0,
        paused: hold,
      },
    ],
    queue_paused: hold,
    held_collections: [{ ...hold, collection: "a_content" }],
    space: null,
    failures: [
      {
        code: "DOWNLOAD_FAILED",
        count: 2,
        says: "",
        remedy: "resume",
        example: { id: "jid1", message: "DOWNLOAD_FAILED: no", at: null },
      },
    ],
    completed_per_minute: 1.25,
    failed_per_minute: 2,
  } as unknown as Overview;
  const text = overviewLines(overview, { paint: PLAIN, time }, Infinity).join("\n");
  for (const part of [
    "PAUSED   by olga: maintenance",
    "HELD     a_content",
    "no workers",
    "~5",
    "2m",
    "2  DOWNLOAD_FAILED: no (jid1",
  ])
    expect(text).toContain(part);
  const narrow = overviewLines(overview, { paint: COLOUR, time }, 40);
  expect(Math.max(...narrow.map((line) => widthOf(line.replaceAll(/\u001b\[\d+m/g, ""))))).toBeLessThanOrEqual(40);
});
