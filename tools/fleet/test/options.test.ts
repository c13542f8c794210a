import { describe, expect, test } from "@jest/globals";
import { parseOptions, USAGE } from "../src/options.ts";

describe("the options of npm start", () => {
  test("have a help that names each of them, and asks for nothing else", () => {
    for (const line of [["--help"], ["-h"], ["--help", "--once"]])
      expect(parseOptions(line)).toEqual({ ok: true, options: null });
    for (const name of ["--once", "--no-sample", "--data", "--scale", "--help", "downloader"])
      expect(USAGE).toContain(name);
  });

  test("are read, each with its default", () => {
    expect(parseOptions([])).toEqual({
      ok: true,
      options: { once: false, sample: true, dataDir: "data", scale: new Map() },
    });
    expect(parseOptions(["--once", "--data", "/srv/x", "--scale", "downloader=3"])).toEqual({
      ok: true,
      options: { once: true, sample: true, dataDir: "/srv/x", scale: new Map([["downloader", 3]]) },
    });
  });

  test.each([
    ["--scale", "nobody=1", "no service nobody"],
    ["--scale", "downloader=-1", "a whole number from 0 to 20"],
    ["--scale", "downloader=many", "a whole number from 0 to 20"],
    ["--what", "", "--what"],
  ])("%s %s is refused with a reason", (option, value, reason) => {
    expect(parseOptions([option, value])).toEqual({ ok: false, problem: expect.stringContaining(reason) });
  });
});
