/** No line of the checklists is without a case: here, or in the file that is said to have it. */
import { describe, expect, test } from "@jest/globals";
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { BEDROCK } from "./bedrock/all.ts";
import { ELSEWHERE } from "./elsewhere.ts";
import { ETCD } from "./etcd.ts";
import { type Checklist, LINES } from "./lines.ts";
import { SERVERLESS } from "./serverless.ts";
import { UPSTREAM, UPSTREAM_ELSEWHERE } from "./upstream/all.ts";
import { UPSTREAM_NAMES } from "./upstream/names.ts";

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

describe("of upstream's test cases", () => {
  /** The table of the documents: a name, and the document's sentence that outranks the case. */
  const deviations = async (): Promise<readonly string[]> => {
    const text = await readFile(fileURLToPath(new URL("../../docs/job-queue.md", import.meta.url)), "utf8");
    const [, section = ""] = text.split("### Upstream's cases that do not hold");
    return [...section.split(/^#/m)[0]!.matchAll(/^\| `([^`]+)` +\| "[^|]{10,}" +\|/gm)].map(([, name = ""]) => name);
  };

  test("each is a case here, or a deviation that docs/job-queue.md lists with the document's sentence", async () => {
    const [listed, cases] = [await deviations(), [...Object.keys(UPSTREAM), ...Object.keys(UPSTREAM_ELSEWHERE)]];
    expect([...cases, ...listed].sort()).toEqual([...UPSTREAM_NAMES].sort());
  });

  test("every case elsewhere is there", async () => {
    for (const [name, file] of Object.entries(UPSTREAM_ELSEWHERE)) {
      const source = await readFile(fileURLToPath(new URL(`../../${file}`, import.meta.url)), "utf8");
      expect(source).toContain(`test("${name}: `);
    }
  });
});

test("names of tests are told from other texts", () => {
  expect([...linesIn('test("E1, E2: a", f); describe("M5 b"); const x = "E9: no test";')]).toEqual(["E1", "E2", "M5"]);
});
