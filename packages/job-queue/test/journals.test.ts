/** Jobs that other processes accepted in journals of their own. */
import { describe, expect, test } from "@jest/globals";
import type { NewJob } from "../src/shard/commands.ts";
import { isStatus } from "../src/shard/params.ts";
import { readCommand } from "../src/shard/request.ts";
import type { JobRecord, Reply } from "../src/shard/views.ts";
import { Bench } from "./support/bench.ts";

const idsOf = ({ content }: Reply): readonly number[] => ("ids" in content ? content.ids : []);
const record = (bench: Bench, id: number): JobRecord => {
  const { content } = bench.run({ verb: "DescribeJob", tenant: "default", id });
  if (content.kind !== "record") throw new Error("no record");
  return content.record;
};

const plain = (): NewJob => {
  const command = readCommand("CreateJob", { name: "j" }, { tenant: "default", caller: { kind: "timed", worker: "" } });
  if (isStatus(command) || command.verb !== "CreateJobs") throw new Error("no job");
  return command.jobs[0]!;
};
const ingest = (bench: Bench, ids: readonly number[], over: Partial<NewJob> = {}, after = 0): Reply =>
  bench.run({
    verb: "IngestAdds",
    guest: "api-1",
    file: "1",
    offset: ids.length,
    after,
    jobs: ids.map((id) => ({ id, tenant: "default", at: bench.now - 5_000, job: { ...plain(), ...over } })),
  });

describe("a journal", () => {
  test("M7: has ids of its own, and brings each job in once, also when it has ended and another owner came", () => {
    const bench = new Bench();
    const own = bench.create();
    const block = bench.run({ verb: "ReserveIds", guest: "api-1" }).content;
    expect(block).toEqual({ kind: "block", first: 16_001, last: 17_000 });
    expect(idsOf(ingest(bench, [16_001, 16_003]))).toEqual([16_001, 16_003]);
    expect(record(bench, 16_001)).toMatchObject({ created: bench.now - 5_000, state: "QUEUED" });
    const { token } = bench.get("j");
    bench.ask("FinishJob", { jobID: 16_001, lease: token });
    bench.takeOver();
    expect(idsOf(ingest(bench, [16_001, 16_003, 16_004]))).toEqual([16_001, 16_003, 16_004]);
    expect([...bench.written.keys()]).toEqual([own, 16_003, 16_004]);
    expect(bench.guests.get("api-1")).toEqual({ file: "1", offset: 3, last: 16_004, blocks: [16] });
    expect(bench.create()).toBe(32_001);
  });

  test("is refused with ids that are not its own or not in order, and with jobs that need an owner", () => {
    const bench = new Bench();
    bench.create();
    // Accepted lines are never thrown away because the tree has been put back to an older state.
    expect(ingest(bench, [16_001]).status.code).toBe(503);
    bench.run({ verb: "ReserveIds", guest: "api-1" });
    for (const ids of [[1], [32_001]]) expect(ingest(bench, ids).status.code).toBe(503);
    expect(ingest(bench, [16_002, 16_001]).status.code).toBe(402);
    expect(ingest(bench, [16_001], { unique: true }).status.code).toBe(402);
    expect(ingest(bench, [16_001], { parent: 1 }).status.code).toBe(402);
    expect(bench.run({ verb: "ReserveIds", guest: "../x" }).status.code).toBe(402);
  });

  test("may have several groups under way: none is taken in before the one that it follows", () => {
    const bench = new Bench();
    bench.run({ verb: "ReserveIds", guest: "api-1" });
    const lost = [1, 2];
    expect(ingest(bench, [3, 4], {}, 2).status).toEqual({
      code: 503,
      text: "Jobs before these have not been taken in",
    });
    expect(bench.guests.get("api-1")?.last).toBe(0);
    for (const [ids, after] of [
      [lost, 0],
      [[3, 4], 2],
      [[3, 4], 2],
    ] as const)
      expect(idsOf(ingest(bench, ids, {}, after))).toEqual(ids);
    expect([...bench.written.keys()]).toEqual([1, 2, 3, 4]);
  });

  test("has its blocks, also when they were reserved after the snapshot from which the tree was restored", () => {
    const bench = new Bench();
    bench.run({ verb: "ReserveIds", guest: "api-2" });
    // Of a journal that the tree knows, and of nobody so far.
    const [others, nobodys] = [1, 16_016_001];
    expect(ingest(bench, [16_001]).status.code).toBe(503);
    bench.restore();
    for (const id of [others, nobodys]) expect(ingest(bench, [id]).status.code).toBe(503);
    expect(idsOf(ingest(bench, [16_001, 32_001]))).toEqual([16_001, 32_001]);
    expect(bench.guests.get("api-1")).toMatchObject({ last: 32_001, blocks: [32] });
    expect(idsOf(ingest(bench, [16_001, 32_001, 32_002]))).toEqual([16_001, 32_001, 32_002]);
    expect([...bench.written.keys()]).toEqual([16_001, 32_001, 32_002]);
    const { content } = bench.run({ verb: "ReserveIds", guest: "api-1" });
    expect(content).toEqual({ kind: "block", first: 16_016_001, last: 16_017_000 });
    expect(idsOf(ingest(bench, [32_003, 16_016_001]))).toEqual([32_003, 16_016_001]);
  });

  test("goes on behind jobs that the snapshot has, though it was taken before it had them from this journal", () => {
    const bench = new Bench();
    bench.run({ verb: "ReserveIds", guest: "api-1" });
    ingest(bench, [1, 2]);
    bench.guests.delete("api-1");
    bench.restore();
    expect(idsOf(ingest(bench, [1, 2]))).toEqual([1, 2]);
    expect(bench.guests.get("api-1")?.last).toBe(2);
    expect([...bench.written.keys()]).toEqual([1, 2]);
  });

  test("gets further blocks, and those that are used up are forgotten", () => {
    const bench = new Bench();
    bench.run({ verb: "ReserveIds", guest: "api-1" });
    bench.run({ verb: "ReserveIds", guest: "api-1" });
    expect(bench.guests.get("api-1")?.blocks).toEqual([0, 16]);
    ingest(bench, [1000, 16_001]);
    expect(bench.guests.get("api-1")?.blocks).toEqual([16]);
  });
});
