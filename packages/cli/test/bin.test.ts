/** The real command, as a process. */
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { testWorker, type TestWorker, testZooKeeper, aBatchOfJobs } from "@sluice/testkit";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { startAdmin, type TestAdmin } from "../../../services/admin/test/support.ts";

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));
const BIN = `${ROOT}packages/cli/bin/sluice.mjs`;
let admin: TestAdmin;
let intake: TestWorker;
let jobs: readonly string[];

beforeAll(async () => {
  const { connect } = await testZooKeeper();
  intake = await testWorker(connect, "batch-intake");
  ({ jobs } = await aBatchOfJobs(intake, 3));
  admin = await startAdmin(connect);
});
afterAll(async () => {
  await admin.stop();
  await intake.close();
});

async function sluice(args: readonly string[], input = ""): Promise<{ code: number; out: string; err: string }> {
  const env = {
    PATH: process.env["PATH"],
    HOME: admin.dir,
    SLUICE_ADMIN_URL: admin.url,
    SLUICE_TOKEN: admin.tokens.operator,
  };
  const child = spawn(process.execPath, [BIN, ...args], { cwd: admin.dir, env, stdio: "pipe" });
  child.stdin.end(input);
  const [out, err, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, "exit") as Promise<[number]>,
  ]);
  return { code, out, err };
}

test("prints data to stdout, ends by itself, and has no colour in a pipe", async () => {
  const listed = await sluice(["job", "list", "-o", "name"]);
  expect(listed).toEqual({ code: 0, out: `${jobs.join("\n")}\n`, err: "" });
  const table = await sluice(["job", "list"]);
  expect(table.out).not.toContain("\u001b");
});

test("takes ids from a pipe and ends with the code of what happened", async () => {
  const held = await sluice(["job", "hold", "-", "--reason", "a test", "--yes"], jobs.join("\n"));
  expect([held.code, held.out]).toEqual([0, expect.stringContaining("hold: 3 of 3 jobs, done")]);
  expect((await sluice(["job", "show", "jid0000009999"])).code).toBe(3);
  expect((await sluice(["job", "hold", jobs[0]!, "--reason", "a test"])).code).toBe(4);
  expect((await sluice(["jbo"])).code).toBe(64);
  expect((await sluice(["job", "fail", jobs[0]!])).code).toBe(64);
});

test("is found by npx in a checkout", () => {
  const { status, stdout } = spawnSync("npx", ["--no-install", "sluice", "--version"], { cwd: ROOT });
  expect([status, stdout.toString()]).toEqual([0, "0.1.0\n"]);
});
