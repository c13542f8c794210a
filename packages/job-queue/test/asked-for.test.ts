/** Jobs that a run asked for, made with its end. */
import { beforeEach, expect, test } from "@jest/globals";
import { decide } from "../src/shard/decide.ts";
import { storeLarge } from "../src/shard/large.ts";
import { isStatus } from "../src/shard/params.ts";
import { readCommand } from "../src/shard/request.ts";
import { Bench } from "./support/bench.ts";

let bench: Bench;
beforeEach(() => void (bench = new Bench()));

const names = (): readonly string[] =>
  [...bench.shard.jobs()].map(([, { name, tenant }]) => `${tenant} ${name}`).sort();
const then = JSON.stringify([{ name: "asked", data: { payload: "a" } }, { name: "asked" }]);
const asker = { tenant: "default", caller: { kind: "worker", worker: "w" } } as const;

test.each([
  ["FinishJob", ["default asked", "default asked"]],
  ["RetryJob", ["default asked", "default asked", "default job"]],
  ["FailJob", ["default asked", "default asked", "default job"]],
])("%s makes them in its own transaction, once, however often it is said", (verb, expected) => {
  const id = bench.create();
  const { token } = bench.get();
  const command = readCommand(verb, { jobID: String(id), lease: token, exitCode: "200", then }, asker);
  if (isStatus(command)) throw new Error(command.text);
  const { reply, units } = decide(bench.shard, command, bench.now);
  expect(reply.status.code).toBe(200);
  expect(units).toHaveLength(1);
  expect(decide(bench.shard, command, bench.now).reply.status.code).toBe(200);
  expect(names()).toEqual(expected);
});

test("whoever has lost the job makes none", () => {
  const id = bench.create();
  const lost = bench.get().token;
  bench.pass(60_000);
  const { token } = bench.get();
  for (const verb of ["FinishJob", "RetryJob", "FailJob"])
    expect(bench.ask(verb, { jobID: id, lease: lost, then })).toBe("405 This job was given to another worker");
  expect(names()).toEqual(["default job"]);
  expect(bench.ask("FinishJob", { jobID: id, lease: token, then }, "acme")).toBe("404 No job with this jobID");
  expect(bench.ask("FinishJob", { jobID: id, lease: token, then })).toBe("200 OK");
  expect(names()).toEqual(["default asked", "default asked"]);
});

test("what cannot be made leaves the job as it was", () => {
  const id = bench.create();
  const { token } = bench.get();
  const many = JSON.stringify(Array.from({ length: 501 }, () => ({ name: "asked" })));
  const wrong = [many, "[{}]", "no list", '[{"name":"a"},{"name":"b","parentJobID":99}]'];
  const said = wrong.map((jobs) => bench.ask("FinishJob", { jobID: id, lease: token, then: jobs }));
  expect(said).toEqual([
    "402 Malformed then",
    "402 Missing name",
    "401 Invalid JSON",
    "404 parentJobID does not exist",
  ]);
  expect([bench.state(id), names()]).toEqual(["RUNNING", ["default job"]]);
});

test("their large data goes to the store of blobs as that of others does", async () => {
  const jobs = JSON.stringify([{ name: "asked", data: { payload: "x".repeat(100_000) } }]);
  const command = readCommand("FinishJob", { jobID: "1", then: jobs }, asker);
  if (isStatus(command)) throw new Error(command.text);
  const ref = { sha256: "0".repeat(64), bytes: 100_015 };
  const stored = await storeLarge(command, { put: () => Promise.resolve(ref), get: () => Promise.resolve(null) });
  expect(stored).toMatchObject({ then: [{ name: "asked", data: { text: "{}", ref } }], data: null });
});
