import { describe, expect, test } from "@jest/globals";
import { COMMON_OPTIONS, nameOf } from "../src/command.ts";
import { COMMANDS } from "../src/commands/all.ts";
import { parseMoment, parseSeconds } from "../src/given.ts";
import { nearest } from "../src/near.ts";
import { parseLine } from "../src/parse.ts";
import { sluice } from "./support.ts";

describe("the table of commands", () => {
  test("names each command once", () => {
    const names = COMMANDS.map(nameOf);
    expect(new Set(names).size).toBe(names.length);
  });

  test("gives an option the same form wherever it is taken, so that it may stand anywhere in the line", () => {
    const forms = new Map<string, string>();
    for (const { name, short, value } of [...COMMON_OPTIONS, ...COMMANDS.flatMap(({ options }) => options ?? [])]) {
      const form = `${value === undefined ? "switch" : "value"} ${short ?? ""}`;
      expect([name, forms.get(name) ?? form]).toEqual([name, form]);
      forms.set(name, form);
    }
  });

  test("has an example for each command, and the parser takes all of them", () => {
    for (const command of COMMANDS) {
      for (const example of command.examples) {
        const words = [...example.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? "");
        expect([example, parseLine(words, COMMANDS).kind]).toEqual([example, "run"]);
        expect(example.startsWith(nameOf(command))).toBe(true);
      }
    }
  });
});

describe("a wrong command line ends with 64 and says what was probably meant:", () => {
  test.each([
    ["jbo list", "there is no command jbo; did you mean job?"],
    ["job resme x", "job has no resme; did you mean resume?"],
    ["job list --state Faild", "did you mean Failed?"],
    ["job list --stat Failed", "job list does not take --stat; did you mean --state?"],
    ["job list --limit many", "expected a whole number"],
    ["job show", "JOB is missing"],
    ["job show a b", "too many words: b"],
    ["stage pause downlaoder", "did you mean downloader?"],
    ["job resume x --older-than soon", "expected a span like 90s"],
    ["collection hold c --until tomorrow", "expected a time like"],
    ["job list --limit 1 --limit 2", "--limit is given twice"],
    ["job list --output", "--output takes a value"],
    ["batch list --yes", "batch list does not take --yes"],
    ["top --admin-url ftp://example.org", "expected an http or https address"],
  ])("%s", async (line, says) => {
    const { code, err, out } = await sluice(line);
    expect([code, out]).toEqual([64, ""]);
    expect(err).toContain(says);
    expect(err).toMatch(/Next: sluice .*--help/);
  });
});

test("options may stand before the command, and -h anywhere asks for help", async () => {
  const parsed = parseLine(["-o", "json", "--state", "Failed", "job", "list"], COMMANDS);
  expect(parsed.kind === "run" && [nameOf(parsed.command), parsed.given.text("output")]).toEqual(["job list", "json"]);
  const help = await sluice("job resume -h");
  expect(help.code).toBe(0);
  expect(help.out).toContain("sluice job resume [JOB…] [options]");
  expect(help.out).toContain("--dry-run");
  expect((await sluice("job")).out).toContain("job priority");
  const all = await sluice("");
  expect(all.out).toContain("130  Ctrl-C");
  expect(all.out).not.toContain("__complete");
  expect((await sluice("--version")).out).toBe("0.0.0\n");
});

test("spans and moments", () => {
  expect([parseSeconds("90"), parseSeconds("1d12h"), parseSeconds("5x"), parseSeconds("")]).toEqual([
    90,
    129_600,
    null,
    null,
  ]);
  expect(parseMoment("2h", 0)).toBe("1970-01-01T02:00:00.000Z");
  expect(parseMoment("2026-11-17T06:00:00+01:00", 0)).toBe("2026-11-17T05:00:00.000Z");
  expect(parseMoment("2026-13-45", 0)).toBeNull();
});

test("near words are offered, far ones are not", () => {
  expect(nearest("reslease", ["release", "resume"])).toBe("release");
  expect(nearest("dele", ["delete", "hold"])).toBe("delete");
  expect(nearest("ehlp", ["help"])).toBe("help");
  expect(nearest("zzz", ["release", "resume"])).toBeNull();
});
