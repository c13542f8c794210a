/** docs/security.md is held to the code: its bounds, their defaults, the tests that it names, the chapters of ASVS. */
import { beforeAll, describe, expect, test } from "@jest/globals";
import { existsSync } from "node:fs";
import { join, normalize } from "node:path";
import { foldersIn, matches, read, ROOT } from "./support.ts";

const DOCUMENT = "docs/security.md";
const text = existsSync(`${ROOT}${DOCUMENT}`) ? await read(DOCUMENT) : "";

/** From a heading to the next of its rank or above. */
function sectionOf(heading: string): string {
  const rank = /^#+/.exec(heading)?.[0].length ?? 0;
  const after = text.split(`\n${heading}\n`)[1] ?? "";
  return after.split(new RegExp(`^#{1,${rank}} `, "m"))[0] ?? "";
}

const cellsOf = (line: string): readonly string[] =>
  line
    .split("|")
    .slice(1, -1)
    .map((cell) => cell.trim());
/** Rows of all tables of a text, without their heads. */
const rowsOf = (markdown: string): readonly (readonly string[])[] =>
  markdown
    .split(/\n(?!\|)/)
    .flatMap((block) => block.split("\n").filter((line) => line.startsWith("|")))
    .map(cellsOf)
    .filter((cells, at, all) => !isRuler(cells) && !isRuler(all[at + 1] ?? []));
const isRuler = (cells: readonly string[]): boolean => cells.length > 0 && cells.every((cell) => /^:?-+:?$/.test(cell));

interface Bound {
  readonly what: string;
  readonly setting: string;
  readonly value: string;
  readonly shownBy: string;
}
const BOUNDS: readonly Bound[] = rowsOf(sectionOf("## Limits")).map(
  ([what = "", setting = "", value = "", , shownBy = ""]) => ({ what, setting, value, shownBy }),
);

const QUOTED = /\[“([^”]+)”\]\(([^)\s]+)\)/g;

const UNITS: Readonly<Record<string, number>> = {
  "": 1,
  "%": 0.01,
  ms: 1,
  s: 1_000,
  min: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  B: 1,
  kB: 1e3,
  MB: 1e6,
  GB: 1e9,
  TB: 1e12,
  KiB: 1_024,
  MiB: 1_048_576,
  GiB: 1_073_741_824,
};
/** `10,000`, `256 MB`, `15 min`: the number that a cell begins with. */
function numberIn(cell: string): number {
  const [, digits = "", unit = ""] = /^([\d,]+(?:\.\d+)?) ?(%|[A-Za-z]+)?/.exec(cell) ?? [];
  const [factor = NaN, value] = [UNITS[unit] ?? UNITS[""], Number(digits.replaceAll(",", ""))];
  return digits === "" ? NaN : Number((value * factor).toPrecision(12));
}

type Defaults = ReadonlyMap<string, number>;

interface Field {
  safeParse(value: unknown): { readonly success: boolean; readonly data?: unknown };
}
interface Schema {
  readonly shape: Readonly<Record<string, Field>>;
}
const isSchema = (value: unknown): value is Schema =>
  typeof value === "object" && value !== null && "shape" in value && typeof value.shape === "object";

/** Of the settings that are numbers. */
async function defaultsOf(service: string): Promise<Defaults> {
  const module = (await import(`${ROOT}services/${service}/src/config.ts`)) as Readonly<Record<string, unknown>>;
  const schema = Object.values(module).find(isSchema);
  const found = Object.entries(schema?.shape ?? {}).map(([name, field]) => [name, field.safeParse(undefined).data]);
  return new Map(found.filter((entry): entry is [string, number] => typeof entry[1] === "number"));
}

const SERVICES = await foldersIn("services");
const DEFAULTS = new Map<string, Defaults>();
beforeAll(async () => {
  for (const service of SERVICES) DEFAULTS.set(service, await defaultsOf(service));
});

/** A setting whose name has one of these words bounds something … */
const OF_BOUNDS =
  /(?:^|_)(?:MAX|MIN|LIMIT|PER|QUOTA|TIMEOUT|STALL|STALE|IDLE|BUDGET|OVERRUN|FLOOR|CONNECTIONS|DEFERRED|UNACCEPTED|CPU|CPUS|MEMORY|PIDS|TRIES|DISK|TMP)(?:_|$)/;
/** … but for these, which say how often something is looked at, or how long something idle is kept. */
const NO_BOUNDS: readonly string[] = [
  "DISK_FULL_WAIT_MS",
  "IDLE_POLL_INTERVAL_MS",
  "NODE_CONTEXT_IDLE_MS",
  "SURVEY_MAX_AGE_MS",
  "ZK_SESSION_TIMEOUT_MS",
];

/** `1_000 * 1024`, where a constant or a member of one is set; NaN: it is not. */
function constantIn(source: string, name: string): number {
  const [, factors = ""] =
    new RegExp(`\\b${name}\\s*(?::\\s*\\w+\\s*)?[:=]\\s*([\\d_.\\s*]+?)\\s*[,;}]`).exec(source) ?? [];
  if (factors === "") return NaN;
  return factors.split("*").reduce((product, factor) => product * Number(factor.trim().replaceAll("_", "")), 1);
}

const escaped = (name: string): string => name.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&");
/** As the title of a test, or as a row of one that is run for each of several. */
const hasTest = (source: string, name: string): boolean =>
  new RegExp(`(?:\\b(?:test|it|withBzip2)\\(|\\)\\(|\\[|name: )\\s*["\`]${escaped(name)}["\`]`).test(source);

describe("the table of bounds", () => {
  test("names settings that are there, with the services that have them and their defaults", () => {
    const wrong = BOUNDS.flatMap(({ setting, value }) => {
      const [, name, services] = /^`([A-Z0-9_]+)` \(([^)]+)\)$/.exec(setting) ?? [];
      if (name === undefined || services === undefined) return [];
      const having = SERVICES.filter((service) => DEFAULTS.get(service)?.has(name));
      const named = services === "all" ? SERVICES : services.split(", ");
      const others = BOUNDS.filter((other) => other.setting.startsWith(`\`${name}\` (`) && other.setting !== setting);
      const isWhole = others.length > 0 || named.length === having.length;
      const isRight = named.every((service) => DEFAULTS.get(service)?.get(name) === numberIn(value));
      return isWhole && isRight ? [] : [`${setting}: ${value}`];
    });
    expect(wrong).toEqual([]);
  });

  test("names constants that are there, with their values", async () => {
    const fixed = BOUNDS.filter(({ setting }) => setting.startsWith("fixed"));
    const wrong = fixed.map(async ({ setting, value }) => {
      const [, name = "", path = ""] = /^fixed: \[`(\w+)`\]\(([^)]+)\)$/.exec(setting) ?? [];
      const file = normalize(join("docs", path));
      const found = path === "" || !existsSync(`${ROOT}${file}`) ? NaN : constantIn(await read(file), name);
      return found === numberIn(value) ? [] : [`${setting}: ${value}, and there ${found}`];
    });
    expect(fixed.length).toBeGreaterThan(20);
    expect((await Promise.all(wrong)).flat()).toEqual([]);
  });

  test("has a setting or a constant in every row, and a test that shows it", () => {
    const form = /^(?:`[A-Z0-9_]+` \([a-z, -]+\)|fixed: \[`\w+`\]\([^)]+\))$/;
    expect(BOUNDS.filter(({ setting }) => !form.test(setting)).map(({ what }) => what)).toEqual([]);
    expect(BOUNDS.filter(({ shownBy }) => matches(shownBy, QUOTED).length === 0).map(({ what }) => what)).toEqual([]);
  });

  test("has every setting that bounds something", () => {
    const named = new Set(BOUNDS.flatMap(({ setting }) => matches(setting, /^`([A-Z0-9_]+)`/g)));
    const all = new Set([...DEFAULTS.values()].flatMap((defaults) => [...defaults.keys()]));
    expect([...all].filter((name) => OF_BOUNDS.test(name) && !NO_BOUNDS.includes(name) && !named.has(name))).toEqual(
      [],
    );
    expect(NO_BOUNDS.filter((name) => !all.has(name))).toEqual([]);
  });
});

test("every test that the document names is there", async () => {
  const quoted = [...text.matchAll(QUOTED)].map(([, name = "", path = ""]) => ({
    name,
    file: normalize(join("docs", path)),
  }));
  expect(quoted.length).toBeGreaterThan(150);
  const wanting = await Promise.all(
    quoted.map(async ({ name, file }) =>
      existsSync(`${ROOT}${file}`) && hasTest(await read(file), name) ? [] : [`${file}: ${name}`],
    ),
  );
  expect(wanting.flat()).toEqual([]);
});

test("titles and rows of tests are told from other texts", () => {
  const source = 'test("a b", () => 1); test.each([["row (1)", 2]])("each %s", f); const x = "c d"; describe("e", g);';
  expect(["a b", "row (1)", "each %s", "c d", "e", "a"].map((name) => hasTest(source, name))).toEqual([
    true,
    true,
    true,
    false,
    false,
    false,
  ]);
  expect([numberIn("1,200"), numberIn("32 MiB (of all)"), numberIn("80 %"), numberIn("15 min")]).toEqual([
    1_200, 33_554_432, 0.8, 900_000,
  ]);
  expect([constantIn("const A = 64 * 1024;", "A"), constantIn("{ b: 1_000,\n", "b"), constantIn("A", "A")]).toEqual([
    65_536,
    1_000,
    NaN,
  ]);
});

/** The requirements of levels 1 and 2 in ASVS 5.0.0. */
const REQUIREMENTS: Readonly<Record<string, string>> = {
  V1: "1.1.1–1.1.2 1.2.1–1.2.9 1.3.1–1.3.11 1.4.1–1.4.3 1.5.1–1.5.2",
  V2: "2.1.1–2.1.3 2.2.1–2.2.3 2.3.1–2.3.4 2.4.1",
  V3: "3.2.1–3.2.2 3.3.1–3.3.4 3.4.1–3.4.6 3.5.1–3.5.5 3.7.1–3.7.2",
  V4: "4.1.1–4.1.3 4.2.1 4.3.1–4.3.2 4.4.1–4.4.4",
  V5: "5.1.1 5.2.1–5.2.3 5.3.1–5.3.2 5.4.1–5.4.3",
  V6: "6.1.1–6.1.3 6.2.1–6.2.12 6.3.1–6.3.4 6.4.1–6.4.4 6.5.1–6.5.5 6.6.1–6.6.3 6.8.1–6.8.4",
  V7: "7.1.1–7.1.3 7.2.1–7.2.4 7.3.1–7.3.2 7.4.1–7.4.5 7.5.1–7.5.2 7.6.1–7.6.2",
  V8: "8.1.1–8.1.2 8.2.1–8.2.3 8.3.1 8.4.1",
  V9: "9.1.1–9.1.3 9.2.1–9.2.4",
  V10: "10.1.1–10.1.2 10.2.1–10.2.2 10.3.1–10.3.4 10.4.1–10.4.11 10.5.1–10.5.5 10.6.1–10.6.2 10.7.1–10.7.3",
  V11: "11.1.1–11.1.2 11.2.1–11.2.3 11.3.1–11.3.3 11.4.1–11.4.4 11.5.1 11.6.1",
  V12: "12.1.1–12.1.3 12.2.1–12.2.2 12.3.1–12.3.4",
  V13: "13.1.1 13.2.1–13.2.5 13.3.1–13.3.2 13.4.1–13.4.5",
  V14: "14.1.1–14.1.2 14.2.1–14.2.4 14.3.1–14.3.3",
  V15: "15.1.1–15.1.3 15.2.1–15.2.3 15.3.1–15.3.7",
  V16: "16.1.1 16.2.1–16.2.5 16.3.1–16.3.4 16.4.1–16.4.3 16.5.1–16.5.3",
  V17: "17.1.1 17.2.1–17.2.4 17.3.1–17.3.2",
};
const CHAPTERS = Object.keys(REQUIREMENTS);

/** `1.2.1–1.2.3, 1.3.1`: one by one. */
const numbersIn = (given: string): readonly string[] =>
  [...given.matchAll(/\b(\d+\.\d+)\.(\d+)(?:–\1\.(\d+))?/g)].flatMap(([, section = "", first = "", last = first]) =>
    Array.from({ length: Number(last) - Number(first) + 1 }, (_, at) => `${section}.${Number(first) + at}`),
  );

const VERDICTS = ["met", "partly", "not met", "not applicable"];
const chapterOf = (chapter: string): string => {
  const heading = text.split("\n").find((line) => line.startsWith(`### ${chapter} `)) ?? "### none";
  return sectionOf(heading);
};

describe("ASVS", () => {
  test.each(CHAPTERS)("%s has a verdict on every requirement of level 2, and what is met is shown", (chapter) => {
    const rows = rowsOf(chapterOf(chapter));
    const numbers = rows.flatMap(([given = ""]) => numbersIn(given));
    expect([...numbers].sort()).toEqual([...numbersIn(REQUIREMENTS[chapter] ?? "")].sort());
    expect(rows.filter(([, , verdict = ""]) => !VERDICTS.includes(verdict))).toEqual([]);
    const shown = /\[[^\]]+\]\([^)]+\)/;
    const claimed = rows.filter(([, , verdict = ""]) => verdict === "met" || verdict === "partly");
    expect(claimed.filter(([, , , how = ""]) => !shown.test(how)).map(([number]) => number)).toEqual([]);
  });

  test("what is not met, or partly, is said once more where that is the subject", () => {
    const open = CHAPTERS.flatMap((chapter) => rowsOf(chapterOf(chapter)))
      .filter(([, , verdict = ""]) => verdict === "partly" || verdict === "not met")
      .flatMap(([numbers = ""]) => numbersIn(numbers));
    const said = rowsOf(sectionOf("## What is not met")).flatMap(([numbers = ""]) => numbersIn(numbers));
    expect(open.length).toBeGreaterThan(10);
    expect([...new Set(said)].sort()).toEqual([...new Set(open)].sort());
  });
});
