import { afterAll, beforeAll, describe, expect, jest, test } from "@jest/globals";
import { findTool, skipUnless } from "@sluice/local-parts";
import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

let bin: string;
let tool: string;

beforeAll(async () => {
  bin = await mkdtemp(join(tmpdir(), "sluice-tools-"));
  tool = join(bin, "frobnicate");
  await writeFile(tool, "#!/bin/sh\n");
  await chmod(tool, 0o755);
});
afterAll(() => rm(bin, { recursive: true }));

describe("the finder of tools", () => {
  test("believes the environment before it looks around", async () => {
    const environment = { FROBNICATE: "/bin/sh", PATH: bin };

    expect(await findTool("frobnicate", { env: "FROBNICATE", environment })).toEqual({ path: "/bin/sh" });
  });

  test("does not go around a wrong word of the environment", async () => {
    const environment = { FROBNICATE: "/nonexistent", PATH: bin };

    expect(await findTool("frobnicate", { env: "FROBNICATE", environment })).toEqual({
      skip: "FROBNICATE=/nonexistent is not an executable file",
    });
  });

  test("finds what is installed on PATH, under another name, or at a place of its own", async () => {
    const other = { environment: { PATH: "/nonexistent" } };

    expect(await findTool("frobnicate", { environment: { PATH: `/nonexistent:${bin}` } })).toEqual({ path: tool });
    expect(await findTool("frob", { paths: ["frobnicate"], environment: { PATH: bin } })).toEqual({ path: tool });
    expect(await findTool("frob", { paths: [tool], ...other })).toEqual({ path: tool });
  });

  test("gives the reason when there is none", async () => {
    expect(await findTool("frob", { environment: { PATH: bin } })).toEqual({ skip: "frob is not installed" });
  });
});

describe("skipUnless", () => {
  const runner = Object.assign(() => "ran", { skip: () => "skipped" });

  test("runs with the tool, and without it prints the reason and skips", () => {
    const printed = jest.spyOn(process.stderr, "write").mockReturnValue(true);
    try {
      expect(skipUnless(runner, { path: "/bin/sh" }, { environment: {} })()).toBe("ran");
      expect(printed).not.toHaveBeenCalled();
      expect(skipUnless(runner, { skip: "no frob" }, { environment: {} })()).toBe("skipped");
      expect(printed).toHaveBeenCalledWith("skipped: no frob\n");
    } finally {
      printed.mockRestore();
    }
  });

  test("fails where a skip is not allowed, unless the tool is optional", () => {
    const environment = { SLUICE_FAIL_ON_SKIP: "1" };
    const printed = jest.spyOn(process.stderr, "write").mockReturnValue(true);
    try {
      expect(() => skipUnless(runner, { skip: "no frob" }, { environment })).toThrow(
        "a test would be skipped: no frob",
      );
      expect(skipUnless(runner, { skip: "no Docker" }, { environment, optional: true })()).toBe("skipped");
    } finally {
      printed.mockRestore();
    }
  });
});
