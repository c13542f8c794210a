/** What the doors, the router and the runner need beyond the document's commands. */
import { describe, expect, test } from "@jest/globals";
import type { BlobRef, BlobStore } from "../src/blobs.ts";
import { TREE_BYTES } from "../src/limits.ts";
import type { ListJobs, NewJob } from "../src/shard/commands.ts";
import type { Content, JobRecord, Reply } from "../src/shard/views.ts";
import { fetchLarge, storeLarge } from "../src/shard/large.ts";
import { isStatus } from "../src/shard/params.ts";
import { readCommand } from "../src/shard/request.ts";
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

describe("ListJobs", () => {
  const bench = new Bench();
  const ids = [
    bench.create({ name: "a" }),
    bench.create({ name: "b", repeat: "HOURLY" }),
    bench.create({ name: "ab" }),
    bench.create({ name: "c" }, "other"),
  ];
  bench.get("ab");
  const list = (filter: Partial<ListJobs>): Content =>
    bench.run({ verb: "ListJobs", tenant: "default", ...filter }).content;
  const listed = (filter: Partial<ListJobs>): readonly number[] => {
    const content = list(filter);
    return content.kind === "list" ? content.jobs.map(({ jobID }) => jobID) : [];
  };

  test("filters by state, names and schedule, inside the tenant", () => {
    expect(listed({})).toEqual(ids.slice(0, 3));
    expect(listed({ states: ["RUNNING"] })).toEqual([ids[2]]);
    expect(listed({ names: ["a*"] })).toEqual([ids[0], ids[2]]);
    expect(listed({ names: ["a", "b"] })).toEqual([ids[0], ids[1]]);
    expect(listed({ repeating: true })).toEqual([ids[1]]);
    expect(listed({ repeating: false, states: ["QUEUED"] })).toEqual([ids[0]]);
  });

  test("leads from page to page", () => {
    expect(list({ limit: 2 })).toMatchObject({ next: ids[1] });
    expect(list({ limit: 2, after: ids[1]! })).toMatchObject({ jobs: [{ jobID: ids[2] }], next: null });
  });
});

describe("CountJobs", () => {
  test("counts types and states as they come and go, and since when the oldest could run", () => {
    const bench = new Bench();
    const first = bench.now;
    bench.create({ name: "a" });
    bench.pass(1000);
    bench.create({ name: "a", jobPriority: 1000 });
    bench.create({ name: "a", firstRun: "2027-01-01" });
    bench.create({ name: "b" }, "other");
    bench.create({ name: "m", mockRequest: "true" });
    const counts = (tenant: string | null): unknown => bench.run({ verb: "CountJobs", tenant }).content;
    const a = { tenant: "default", name: "a", states: { QUEUED: 3 }, ready: 2, oldestDue: first };
    const b = { tenant: "other", name: "b", states: { QUEUED: 1 }, ready: 1, oldestDue: bench.now };
    expect(counts(null)).toMatchObject({ kind: "counts", types: [a, b] });
    expect(counts("other")).toMatchObject({ kind: "counts", types: [b] });
    bench.get("a");
    const { view, token } = bench.get("a");
    bench.ask("FinishJob", { jobID: view.jobID, lease: token });
    expect(counts("default")).toMatchObject({
      kind: "counts",
      types: [{ ...a, states: { QUEUED: 1, RUNNING: 1 }, ready: 0, oldestDue: null }],
    });
  });

  test("counts a child as QUEUED when its parent lets it go", () => {
    const bench = new Bench();
    bench.create({ name: "p" });
    const { view, token } = bench.get("p");
    bench.create({ name: "c", parentJobID: view.jobID });
    const states = (): unknown => {
      const { content } = bench.run({ verb: "CountJobs", tenant: "default" });
      return content.kind === "counts"
        ? Object.fromEntries(content.types.map(({ name, states }) => [name, states]))
        : {};
    };
    expect(states()).toEqual({ p: { RUNNING: 1 }, c: { PAUSED: 1 } });
    bench.ask("FinishJob", { jobID: view.jobID, lease: token });
    expect(states()).toEqual({ p: { PAUSED: 1 }, c: { QUEUED: 1 } });
  });
});

describe("a worker that is gone", () => {
  test("E21, E22: gives back what it has, not what it has ended, and can end nothing any more", () => {
    const bench = new Bench();
    const [held, ended] = [bench.create(), bench.create()];
    const [first, second] = [bench.get(), bench.get()];
    bench.ask("FinishJob", { jobID: ended, lease: second.token });
    expect(idsOf(bench.run({ verb: "ReleaseWorker", worker: "w" }))).toEqual([held]);
    expect(record(bench, held)).toMatchObject({ state: "QUEUED", owner: "", reoffers: 1 });
    expect(record(bench, held).events.at(-1)).toEqual([bench.now, "lapse", "w"]);
    expect(bench.ask("FinishJob", { jobID: held, lease: first.token })).toMatch(/^405/);
    expect(idsOf(bench.run({ verb: "ReleaseWorker", worker: "w" }))).toEqual([]);
  });
});

describe("a lease", () => {
  const leased = (params: Readonly<Record<string, string | number>> = {}) => {
    const bench = new Bench();
    const id = bench.create();
    return { bench, id, token: bench.get("job", params).token };
  };

  test("is of 10 s, of 25 s for a connection, or as long as was asked for", () => {
    for (const [kind, ms] of [
      ["worker", 10_000],
      ["connection", 25_000],
      ["timed", 10_000],
    ] as const) {
      const bench = new Bench();
      const id = bench.create();
      const command = readCommand("GetJob", { name: "job" }, { tenant: "default", caller: { kind, worker: "" } });
      if (isStatus(command)) throw new Error(command.text);
      bench.run(command);
      bench.pass(ms - 1);
      expect(bench.state(id)).toBe("RUNNING");
      bench.pass(1);
      expect(bench.state(id)).toBe("QUEUED");
    }
    const { bench, id } = leased({ leaseMs: 60_000 });
    bench.pass(59_999);
    expect(bench.state(id)).toBe("RUNNING");
    bench.pass(1);
    expect(bench.state(id)).toBe("QUEUED");
    for (const leaseMs of [999, 3_600_001, "x"]) expect(bench.ask("GetJob", { name: "job", leaseMs })).toMatch(/^402/);
  });

  test("is prolonged by its holder's UpdateJob, not by others'", () => {
    const { bench, id, token } = leased();
    bench.pass(6_000);
    bench.ask("UpdateJob", { jobID: id, data: "{}", lease: token });
    bench.pass(6_000);
    expect(bench.state(id)).toBe("RUNNING");
    bench.ask("UpdateJob", { jobID: id, data: '{"x":1}' });
    bench.pass(4_000);
    expect(bench.state(id)).toBe("QUEUED");
  });

  test("is renewed inside its tenant only", () => {
    const { bench, id, token } = leased();
    const renew = (tenant: string): unknown =>
      idsOf(bench.run({ verb: "RenewLeases", tenant, leases: [{ id, token }] }));
    expect(renew("other")).toEqual([id]);
    expect(renew("default")).toEqual([]);
  });

  test("dies with RequeueJobs, unless another has the job by now", () => {
    const { bench, id, token } = leased();
    bench.ask("RequeueJobs", { jobIDs: id });
    const next = bench.get();
    expect(bench.ask("FinishJob", { jobID: id, lease: token })).toMatch(/^405/);
    const late = { verb: "RequeueJobs", tenant: "default", ids: [id], name: null, decrementFailures: true } as const;
    bench.run({ ...late, leases: [token] });
    expect(bench.state(id)).toBe("RUNNING");
    expect(bench.ask("FinishJob", { jobID: id, lease: next.token })).toBe("200 OK");
  });
});

describe("the end of a run", () => {
  test("M17: is kept with its exit code and result, however it ended", () => {
    const bench = new Bench();
    const id = bench.create({ data: '{"x":1}' });
    const end = (verb: string, exitCode: number, result: string): void => {
      const { token } = bench.get();
      bench.ask(verb, { jobID: id, lease: token, exitCode, result });
    };
    end("RetryJob", 500, "try again");
    end("FailJob", 400, "never");
    bench.ask("RequeueJobs", { jobIDs: id });
    end("FinishJob", 200, "done");
    expect(bench.ended.map(({ done }) => [done.outcome, done.exit, done.result, done.worker])).toEqual([
      ["retried", 500, "try again", "w"],
      ["failed", 400, "never", "w"],
      [undefined, 200, "done", "w"],
    ]);
    expect(bench.ended.at(-1)?.done.job).toMatchObject({ data: '{"x":1}', priority: 500 });
    expect(bench.ended.at(-1)?.done.job?.ev.map(([, what]) => what)).toEqual([
      "create",
      "take",
      "retry",
      "take",
      "fail",
      "requeue",
      "take",
      "finish",
    ]);
  });

  test("M22: leaves its result to the type that was named, if it ended well", () => {
    const bench = new Bench();
    const finish = (exitCode: number): void => {
      const id = bench.create({ name: "a", onFinish: "b", jobPriority: 1000 });
      const { token } = bench.get("a");
      bench.ask("FinishJob", { jobID: id, lease: token, exitCode, result: "42" });
    };
    finish(400);
    expect(bench.ask("GetJob", { name: "b" })).toBe("404 No job found");
    finish(200);
    const { view } = bench.get("b");
    expect(JSON.parse(view.data)).toEqual({ from: { jobID: 2, name: "a", exit: 200 }, payload: "42" });
    expect(view.priority).toBe(1000);
  });
});

test("a shard with 200,000 jobs takes no more, neither from callers nor from journals", () => {
  const bench = new Bench();
  const id = bench.create({ name: "a" });
  const job = bench.written.get(id)!;
  // Of several tenants, each within its own bound.
  for (let n = 0; n < 199_999; n++) bench.written.set(160_001 + n, { ...job, tenant: `t${n % 4}` });
  bench.reload();
  bench.run({ verb: "ReserveIds", guest: "api-1" });
  expect(bench.ask("CreateJob", { name: "a" })).toBe("503 Too many jobs");
  expect(ingest(bench, [10_000_001]).status.code).toBe(503);
  bench.ask("DeleteJob", { jobID: id });
  expect(bench.ask("CreateJob", { name: "a" })).toBe("200 OK");
});

describe("F15: types that crash", () => {
  test("are remembered by the next owner, each once", () => {
    const bench = new Bench();
    bench.ask("CrashBedrockJob", { name: "a*,b" });
    bench.ask("CrashBedrockJob", { name: "b" });
    bench.takeOver();
    expect(bench.crashed).toEqual({ default: ["a*", "b"] });
    const id = bench.create({ name: "ab" });
    bench.ask("GetJob", { name: "ab" });
    expect(bench.state(id)).toBe("FAILED");
    bench.ask("ClearCrashedBedrockJobs");
    expect(bench.crashed).toEqual({});
  });

  test("are not more than a node holds", () => {
    const name = Array.from({ length: 40 }, (_, n) => `${n}${"x".repeat(240)}`).join(",");
    const bench = new Bench();
    const answers = Array.from({ length: 8 }, (_, n) =>
      bench.ask("CrashBedrockJob", { name: name.replaceAll("x", `${n}`) }),
    );
    expect(answers[0]).toBe("200 OK");
    expect(answers.at(-1)).toBe("402 Malformed name");
  });
});

test("M16: jobs that nobody has run expire when they are told to, and no others", () => {
  const DAY_MS = 86_400_000;
  const bench = new Bench();
  const [old, repeating] = [bench.create({ name: "old" }), bench.create({ name: "again", repeat: "HOURLY" })];
  const ran = bench.create({ name: "ran" });
  const { token } = bench.get("ran");
  bench.ask("RetryJob", { jobID: ran, lease: token });
  bench.now += 31 * DAY_MS;
  const [young, later] = [bench.create({ name: "young" }), bench.create({ name: "later", firstRun: "2099-01-01" })];

  const expire = (): readonly number[] => idsOf(bench.run({ verb: "ExpireJobs", before: bench.now - 30 * DAY_MS }));
  expect(expire()).toEqual([old, repeating]);
  expect(record(bench, old).state).toBe("FAILED");
  expect(record(bench, old).step).toMatch(/^due since .*, and nobody has run it$/);
  for (const id of [ran, young, later]) expect(bench.state(id)).toBe("QUEUED");
  expect(expire()).toEqual([]);
  bench.takeOver();
});

describe("what is too large for the tree", () => {
  const blobs = new Map<string, Buffer>();
  const store: BlobStore = {
    put: (bytes) => {
      const sha256 = String(bytes.length).padStart(64, "0");
      blobs.set(sha256, bytes);
      return Promise.resolve({ sha256, bytes: bytes.length });
    },
    get: ({ sha256 }: BlobRef) => Promise.resolve(blobs.get(sha256) ?? null),
  };
  const large = JSON.stringify({ x: "x".repeat(TREE_BYTES) });
  const ask = async (bench: Bench, verb: string, fields: Readonly<Record<string, string>>): Promise<Reply> => {
    const command = readCommand(verb, fields, { tenant: "default", caller: { kind: "worker", worker: "w" } });
    if (isStatus(command)) throw new Error(command.text);
    const stored = await storeLarge(command, store);
    if (isStatus(stored)) throw new Error(stored.text);
    return bench.run(stored);
  };

  test("M10: stands in the store of blobs, and answers have it whole", async () => {
    const bench = new Bench();
    const [id = 0] = idsOf(await ask(bench, "CreateJob", { name: "job", data: large, mockRequest: "1" }));
    expect(bench.written.get(id)).toMatchObject({ data: "{}", dataRef: { bytes: large.length } });
    const taken = await ask(bench, "GetJob", { name: "job", mockRequest: "1" });
    const whole = await fetchLarge(taken, store);
    const [job] = whole?.content.kind === "taken" ? whole.content.jobs : [];
    expect(job?.view.data).toBe(`{"mockRequest":true,${large.slice(1)}`);
    expect(job?.view.dataRef).toBeUndefined();
    await ask(bench, "FinishJob", { jobID: String(id), lease: job!.token, result: large });
    expect(bench.ended[0]?.done).toMatchObject({
      resultRef: { bytes: large.length },
      job: { dataRef: { bytes: large.length } },
    });
    blobs.clear();
    expect(await fetchLarge(taken, store)).toBeNull();
  });

  test("is refused where there is no store, and by an owner", async () => {
    const bench = new Bench();
    expect(bench.ask("CreateJob", { name: "job", data: large })).toBe("402 Malformed data");
    const id = bench.create();
    const { token } = bench.get();
    expect(bench.ask("UpdateJob", { jobID: id, data: large })).toBe("402 Malformed data");
    expect(bench.ask("FinishJob", { jobID: id, lease: token, result: large })).toBe("402 Malformed result");
    const command = readCommand(
      "CreateJob",
      { name: "a", data: large },
      { tenant: "default", caller: { kind: "timed", worker: "" } },
    );
    if (isStatus(command)) throw new Error(command.text);
    expect(await storeLarge(command, null)).toMatchObject({ code: 402 });
  });

  test("of a unique job is replaced, not merged", async () => {
    const bench = new Bench();
    const make = (data: string): Promise<Reply> => ask(bench, "CreateJob", { name: "u", unique: "true", data });
    await make('{"a":1}');
    await make(large);
    const [id = 0] = idsOf(await make(large));
    expect(bench.written.get(id)).toMatchObject({ data: "{}", dataRef: { bytes: large.length } });
    await make('{"b":2}');
    expect(bench.written.get(id)).toMatchObject({ data: '{"b":2}' });
    expect(bench.written.get(id)?.dataRef).toBeUndefined();
  });
});

test("CrashBedrockJob takes `names`, and a requeued job is due at a whole second", () => {
  const bench = new Bench();
  bench.now += 123;
  const id = bench.create({ name: "crashing" });
  expect(bench.ask("CrashBedrockJob", { names: "crash*, other" })).toBe("200 OK");
  expect(bench.content("GetJob", { name: "crashing" })).toMatchObject({ jobs: [] });
  expect(bench.state(id)).toBe("FAILED");
  expect(bench.ask("RequeueJobs", { jobIDs: String(id) })).toBe("200 OK");
  expect(bench.query(id)["nextRun"]).toBe(bench.query(id)["created"]);
});
