/** Whatever the queue does to a job by itself is told, with the reason, and stands in the record. */
import { expect, test } from "@jest/globals";
import type { Command } from "../src/shard/commands.ts";
import { decide } from "../src/shard/decide.ts";
import type { Notice } from "../src/shard/notices.ts";
import { isStatus } from "../src/shard/params.ts";
import { readCommand } from "../src/shard/request.ts";
import { Bench } from "./support/bench.ts";

const told = (bench: Bench, command: Command): readonly Notice[] => decide(bench.shard, command, bench.now).notices;
function ask(bench: Bench, verb: string, fields: Readonly<Record<string, string>>): readonly Notice[] {
  const command = readCommand(verb, fields, { tenant: "default", caller: { kind: "worker", worker: "w" } });
  if (isStatus(command)) throw new Error(command.text);
  return told(bench, command);
}
const stepOf = (bench: Bench, id: number): unknown => {
  const { content } = bench.reply("DescribeJob", { jobID: id });
  return content.kind === "record" ? [content.record.state, content.record.step] : null;
};
const of = { tenant: "default", name: "job", worker: "w" };

test("what was asked for is no news", () => {
  const bench = new Bench();
  expect(ask(bench, "CreateJob", { name: "job" })).toEqual([]);
  expect(ask(bench, "GetJob", { name: "job" })).toEqual([]);
  expect(ask(bench, "FinishJob", { jobID: "1" })).toEqual([]);
});

test("a lease that runs out, a run that takes too long, a worker that is dead", () => {
  const bench = new Bench();
  const [lost, long, dead] = [bench.create(), bench.create({ maxRunTime: 5_000 }), bench.create()];
  for (const _ of [lost, long]) bench.get();
  bench.now += 5_000;
  expect(told(bench, { verb: "Tick" })).toEqual([
    { ...of, what: "lapse", id: long, why: "it ran longer than its maxRunTime" },
  ]);
  bench.now += 5_000;
  expect(told(bench, { verb: "Tick" })).toEqual([{ ...of, what: "lapse", id: lost, why: "its lease ran out" }]);
  for (const _ of [lost, long, dead]) bench.get();
  const why = "its worker was declared dead";
  expect(told(bench, { verb: "ReleaseWorker", worker: "w" }).map((notice) => [notice.id, notice.why])).toEqual(
    [lost, long, dead].map((id) => [id, why]),
  );
});

test("poison: lost too often, taken too often, of a crashing type; the record says so", () => {
  const bench = new Bench();
  const lost = bench.create();
  const last: (readonly Notice[])[] = [];
  for (let n = 0; n < 10; n++) {
    bench.get();
    bench.now += 10_000;
    last.push(told(bench, { verb: "Tick" }));
  }
  const why = "lost 10 times by its workers";
  expect(last.at(-1)).toEqual([{ ...of, what: "poison", id: lost, why }]);
  expect(stepOf(bench, lost)).toEqual(["FAILED", why]);

  const often = bench.create({ data: '{"retryAfterCount":10}' });
  expect(ask(bench, "GetJob", { name: "job" })).toEqual([
    { ...of, what: "poison", id: often, worker: "", why: "taken 10 times without an end" },
  ]);
  bench.ask("CrashBedrockJob", { name: "jo*" });
  const crashing = bench.create();
  expect(ask(bench, "GetJob", { name: "job" })).toMatchObject([
    { id: crashing, why: "its type is marked as crashing" },
  ]);
  bench.ask("ClearCrashedBedrockJobs");
  bench.ask("RequeueJobs", { jobIDs: crashing });
  expect(stepOf(bench, crashing)).toEqual(["QUEUED", ""]);
});

test("a job that another one's end has made", () => {
  const bench = new Bench();
  const first = bench.create({ onFinish: "next" });
  bench.get();
  expect(ask(bench, "FinishJob", { jobID: String(first) })).toEqual([
    { what: "chain", id: first + 1, tenant: "default", name: "next", worker: "", why: `job ${first} has ended well` },
  ]);
});

test("F15: the patterns that are not handed out can be read, a tenant's own", () => {
  const bench = new Bench();
  bench.ask("CrashBedrockJob", { name: "a*,b" });
  bench.ask("CrashBedrockJob", { name: "c" }, "other");
  expect(bench.content("Status")).toEqual({ kind: "crashed", names: ["a*", "b"] });
  bench.ask("ClearCrashedBedrockJobs");
  expect(bench.content("Status")).toEqual({ kind: "crashed", names: [] });
});

test("a list shows who has a job and how far it is", () => {
  const bench = new Bench();
  const jobID = bench.create();
  const { token } = bench.get();
  bench.ask("UpdateJob", { jobID, lease: token, data: "{}", step: "half" });
  const { content } = { content: bench.run({ verb: "ListJobs", tenant: "default" }).content };
  expect(content).toMatchObject({ kind: "list", jobs: [{ jobID, owner: "w", step: "half" }] });
});
