import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { type FileHandle, mkdtemp, open, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { boundLog } from "../src/bounded-logs.ts";

const BOUNDS = { maxBytes: 10, kept: 2 };
let folder: string;
let file: string;
let service: FileHandle;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "sluice-logs-"));
  file = join(folder, "estimator.log");
  service = await open(file, "a");
});
afterEach(async () => {
  await service.close();
  await rm(folder, { recursive: true, force: true });
});

const contents = async (): Promise<Readonly<Record<string, string>>> => {
  const names = (await readdir(folder)).sort();
  return Object.fromEntries(
    await Promise.all(names.map(async (name) => [name, await readFile(join(folder, name), "utf8")] as const)),
  );
};

test("a log within its bounds is left alone", async () => {
  await service.write("0123456789");
  expect(await boundLog(file, BOUNDS)).toBe(false);
  expect(await contents()).toEqual({ "estimator.log": "0123456789" });
});

test("a larger one is set aside while its service goes on writing, and two old ones are kept", async () => {
  for (const round of ["first", "second", "third"]) {
    await service.write(`the ${round} line\n`);
    expect(await boundLog(file, BOUNDS)).toBe(true);
  }
  await service.write("now\n");
  expect(await contents()).toEqual({
    "estimator.log": "now\n",
    "estimator.log.1": "the third line\n",
    "estimator.log.2": "the second line\n",
  });
});

test("a log that is not there yet is nothing to look after", async () => {
  expect(await boundLog(join(folder, "recorder.log"), BOUNDS)).toBe(false);
});
