/** No line of the checklists is without a case: here, or in the file that is said to have it. */
import { describe, expect, test } from "@jest/globals";
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { BEDROCK } from "./bedrock/all.ts";
import { ELSEWHERE } from "./elsewhere.ts";
import { ETCD } from "./etcd.ts";
import { type Checklist, LINES } from "./lines.ts";
import { SERVERLESS } from "./serverless.ts";

const HERE: Readonly<Record<Checklist, Readonly<Record<string, unknown>>>> = {
  bedrock: BEDROCK,
  etcd: ETCD,
  serverless: SERVERLESS,
};
const CHECKLISTS = Object.keys(LINES) as Checklist[];

/** The lines that the names of a file's tests begin with: `E19, E20: …`. */
function linesIn(source: string): ReadonlySet<string> {
  const names = source.matchAll(/\b(?:describe|test|it)(?:\.\w+)*\(?[^"'`]*["'`]((?:[A-Z]\d+, )*[A-Z]\d+)[: ]/g);
  return new Set([...names].flatMap(([, lines = ""]) => lines.split(", ")));
}

describe.each(CHECKLISTS)("of the %s checklist", (checklist) => {
  test("every line has a case", () => {
    const known = new Set([...Object.keys(HERE[checklist]), ...Object.keys(ELSEWHERE[checklist])]);
    expect(LINES[checklist].filter((line) => !known.has(line))).toEqual([]);
  });

  test("every case is of a line", () => {
    const cases = [...Object.keys(HERE[checklist]), ...Object.keys(ELSEWHERE[checklist])];
    expect(cases.filter((line) => !LINES[checklist].includes(line))).toEqual([]);
  });

  test("every test elsewhere is there", async () => {
    for (const [line, file] of Object.entries(ELSEWHERE[checklist])) {
      const source = await readFile(fileURLToPath(new URL(`../../${file}`, import.meta.url)), "utf8");
      expect([file, line, linesIn(source).has(line)]).toEqual([file, line, true]);
    }
  });
});

test("names of tests are told from other texts", () => {
  expect([...linesIn('test("E1, E2: a", f); describe("M5 b"); const x = "E9: no test";')]).toEqual(["E1", "E2", "M5"]);
});
