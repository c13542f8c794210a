import { mkdir, readdir, utimes } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, expect, test } from "@jest/globals";
import { readConfig, silentLog } from "@sluice/stage-runtime";
import { intakeConfig, RELATIONS } from "../src/config.ts";
import { sweepIncoming } from "../src/duties/sweep-incoming.ts";
import { openIncoming } from "../src/files/incoming.ts";
import { makeCleanups, temporaryFolder } from "./support.ts";

const cleanups = makeCleanups();
afterEach(() => cleanups.run());

const read = (env: Record<string, string>) =>
  readConfig(intakeConfig, { ZOOKEEPER_CONNECT: "127.0.0.1:2181", ...env }, { relations: RELATIONS });

test("the defaults serve one machine, and nobody else", () => {
  expect(read({})).toMatchObject({
    ok: true,
    config: { PORT: 8080, HOST: "127.0.0.1", WORKING_DIR: "./data/queue", ALLOW_LOOPBACK: false },
  });
});

test("every wrong setting is named at once", () => {
  const result = read({
    HOST: "0.0.0.0",
    PORT: "99999",
    ALLOW_LOOPBACK: "perhaps",
    UPLOAD_MAX_BYTES: "10",
    MANIFEST_MAX_BYTES: "11",
  });
  const named = result.ok ? [] : result.problems.map((problem) => problem.split(":")[0]);
  expect(named.sort()).toEqual(["ALLOW_LOOPBACK", "HOST", "MANIFEST_MAX_BYTES", "PORT"]);
});

test.each(["127.0.0.1", "127.1.2.3", "::1", "localhost"])("%s is loopback", (host) => {
  expect(read({ HOST: host }).ok).toBe(true);
});

test("uploads that never became a batch are removed when they are old, others stay", async () => {
  const root = await temporaryFolder(cleanups);
  for (const [name, seconds] of [
    ["old", 1_000],
    ["young", 5_000],
  ] as const) {
    await mkdir(join(root, ".incoming", name), { recursive: true });
    await utimes(join(root, ".incoming", name), seconds, seconds);
  }
  const sweep = sweepIncoming(await openIncoming(root), 2_000_000);
  await sweep.run({
    signal: new AbortController().signal,
    clock: { nowMs: () => 6_000_000, monotonicMs: () => 0 },
    log: silentLog(),
    failpoint: () => Promise.resolve(),
    queue: null as never,
    worker: "test",
  });
  expect(await readdir(join(root, ".incoming"))).toEqual(["young"]);
});
