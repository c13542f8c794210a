import { expect, test } from "@jest/globals";
import { settle, type SettlePorts } from "../src/run/settle.ts";
import type { Ended } from "../src/run/types.ts";
import { aJob } from "./support/sandbox.ts";

const RULES = { maxAgeMs: 1_000, maxAttempts: null, delayMs: 0 };
const silent = { info: () => undefined, warn: () => undefined, error: () => undefined };

/** What was asked of the queue for a run that ended so, in order. */
async function asked(ended: Ended): Promise<readonly string[]> {
  const calls: string[] = [];
  const end =
    (verb: string) =>
    (_: unknown, { then = [] }: Ended) => {
      calls.push(`${verb} ${then.map(({ name, data }) => `${name}=${JSON.stringify(data)}`).join(" ")}`.trim());
      return Promise.resolve("done" as const);
    };
  const queue: SettlePorts["queue"] = {
    create: (_, jobs) => Promise.resolve(void calls.push(`create ${jobs.length}`)).then(() => MADE),
    finish: end("finish"),
    retry: end("retry"),
    fail: end("fail"),
    history: () => Promise.resolve({ attempts: 1, firstTriedMs: 0 }),
  };
  const ports = { queue, nowMs: () => 0, log: silent as unknown as SettlePorts["log"], onSettled: () => undefined };
  await settle(aJob(), ended, RULES, ports);
  return calls;
}

test("a run that ends its job for good fails it, whatever its schedule says", async () => {
  expect(await asked({ exit: 410, forGood: true })).toEqual(["fail"]);
  expect(await asked({ exit: 410 })).toEqual(["finish"]);
});

test("a job of the fleet that failed for good is a warning that says why, once; a tenant's own is no news", async () => {
  const lines: [string, Record<string, unknown>, string][] = [];
  const note = (level: string) => (facts: Record<string, unknown>, text: string) =>
    void lines.push([level, facts, text]);
  const log = { info: note("info"), warn: note("warn"), error: note("error") } as unknown as SettlePorts["log"];
  const done = () => Promise.resolve("done" as const);
  const queue = { create: () => Promise.resolve(MADE), finish: done, retry: done, fail: done } as never;
  const ports = { queue, nowMs: () => 0, log, onSettled: () => undefined };
  const result = '{"why":"eve made this schedule: their token was revoked","at":"https://a.example/x?key=secret"}';
  for (const tenant of ["system", "acme"]) await settle({ ...aJob(), tenant }, { exit: 422, result }, RULES, ports);
  expect(lines.map(([level, { tenant }, text]) => [level, tenant, text])).toEqual([
    ["warn", "system", "a job of the fleet failed: it is not tried again"],
    ["info", "acme", "job completing"],
  ]);
  expect(lines[0]![1]["why"]).toContain("eve made this schedule: their token was revoked");
  expect(JSON.stringify(lines)).not.toContain("secret");
});

const MADE = { made: true, refused: null };

test("M21: jobs that a run asked for go with its end, whatever that is: no crash lies between", async () => {
  const lines = ["J: next|a", "noise", "J: other|b"];
  const jobs = 'next={"payload":"a"} other={"payload":"b"}';
  expect(await asked({ exit: 200, lines })).toEqual([`finish ${jobs}`]);
  expect(await asked({ exit: 100, lines })).toEqual([`retry ${jobs}`]);
  expect(await asked({ exit: 200, lines: ["noise"] })).toEqual(["finish"]);
});

test("M21: more than one end can take along are made before it", async () => {
  expect(await asked({ exit: 200, lines: Array.from({ length: 501 }, () => "J: next|a") })).toEqual([
    "create 501",
    "finish",
  ]);
  const large = `J: next|${"x".repeat(60_000)}`;
  expect(await asked({ exit: 200, lines: [large, large] })).toEqual(["create 2", "finish"]);
});
