import { afterAll, describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import Database from "libsql";
import { matchesName, parseNames } from "../src/names.ts";
import { parseGlob } from "../src/glob.ts";

const sqlite = new Database(":memory:");
const ask = sqlite.prepare("SELECT ? GLOB ? AS answer");
afterAll(() => void sqlite.close());

const inSqlite = (name: string, pattern: string): boolean =>
  (ask.get(name, pattern) as { readonly answer: number }).answer === 1;
const ours = (name: string, pattern: string): boolean => {
  const glob = parseGlob(pattern);
  return glob === null ? name === pattern : glob(name);
};

describe("a pattern", () => {
  test("matches what SQLite's GLOB matches", () => {
    const letters = "abAB]-^*?[é/😀.\\";
    const text = (of: string, maxLength: number): fc.Arbitrary<string> =>
      fc.array(fc.constantFrom(...Array.from(of)), { maxLength }).map((chars) => chars.join(""));
    fc.assert(
      fc.property(text(letters, 8), text(`${letters}***??[[]]--^^ab`, 9), (name, pattern) => {
        return ours(name, pattern) === inSqlite(name, pattern);
      }),
      { numRuns: 5_000 },
    );
  });

  test.each([
    ["Foo*", "FooBar", true],
    ["Foo*", "foobar", false],
    ["f?o", "foo", true],
    ["[a-c]at", "bat", true],
    ["[^a-c]at", "bat", false],
    ["a.c", "abc", false],
    ["*", "line\nbreak", true],
  ])("%j against %j: %p", (pattern, name, answer) => {
    expect(ours(name, pattern)).toBe(answer);
  });

  test("of many stars is answered at once", () => {
    expect(ours("a".repeat(250), `${"*a".repeat(100)}*b`)).toBe(false);
  });
});

describe("D1: the names asked for", () => {
  test("are a pattern if there is one, and literal if there are several", () => {
    expect(matchesName(parseNames("Foo*"), "Foobar")).toBe(true);
    expect(matchesName(parseNames("Foo*,Bar"), "Foobar")).toBe(false);
    expect(matchesName(parseNames("Foo*,Bar"), "Foo*")).toBe(true);
    expect(matchesName(parseNames(" a , b "), "b")).toBe(true);
  });
});
