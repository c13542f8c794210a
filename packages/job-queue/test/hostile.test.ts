/** What callers may send that nobody sends by accident: it must neither stop a shard nor spoil what others have there. */
import { describe, expect, test } from "@jest/globals";
import { FairScheduler } from "../src/scheduler.ts";
import type { Command } from "../src/shard/commands.ts";
import type { GivenData } from "../src/shard/data.ts";
import { decide } from "../src/shard/decide.ts";
import { readCommand } from "../src/shard/request.ts";
import { fetchLarge } from "../src/shard/large.ts";
import { isStatus } from "../src/shard/params.ts";
import { Bench, START } from "./support/bench.ts";

const list = (jobs: unknown): Record<string, string> => ({ jobs: JSON.stringify(jobs) });

function commandOf(jobs: unknown): Command {
  const command = readCommand("CreateJobs", list(jobs), { tenant: "default", caller: { kind: "worker", worker: "w" } });
  if (isStatus(command)) throw new Error(command.text);
  return command;
}

describe("a name with control characters", () => {
  test.each(["a\0b", "a\nb", "\u001b[2J", "\u0085"])("%j is refused, and it is said why", (name) => {
    const refusal = "402 Malformed name: control characters are not allowed";
    expect(new Bench().ask("CreateJob", { name })).toBe(refusal);
    expect(new Bench().ask("CreateJobs", { jobs: JSON.stringify([{ name }]) })).toBe(refusal);
    expect(new Bench().ask("CreateJob", { name: "a", onFinish: name })).toBe(refusal.replace("name", "onFinish"));
  });
});

describe("names that every object has", () => {
  test("are no verbs", () => {
    for (const verb of ["constructor", "__proto__", "hasOwnProperty"]) expect(new Bench().ask(verb)).toMatch(/^430 /);
  });

  test("are tenants like any other", () => {
    const bench = new Bench();
    const tenant = "constructor";
    bench.create({}, tenant);
    expect(bench.get("job", {}, tenant).view.jobID).toBe(1);
    expect(bench.ask("CrashBedrockJob", { name: "bad" }, tenant)).toBe("200 OK");
    expect(bench.ask("ClearCrashedBedrockJobs", {}, tenant)).toBe("200 OK");
  });
});

describe("numbers", () => {
  test("a count that no record can hold is none", () => {
    const bench = new Bench();
    const id = bench.create({ data: '{"retryAfterCount":1e300}' });
    expect(bench.ask("UpdateJob", { jobID: id, data: '{"retryAfterCount":9007199254740993}' })).toBe("200 OK");
    bench.takeOver();
    expect(bench.get().view.jobID).toBe(id);
  });
});

describe("many at once", () => {
  test("most jobs of a shard may be due at the same moment", () => {
    const bench = new Bench({ jobsPerTenant: 200_000 });
    const jobs = Array.from({ length: 10_000 }, () => ({ name: "a", firstRun: "2026-11-16 14:00:00" }));
    const command = commandOf(jobs);
    for (let n = 0; n < 15; n++) decide(bench.shard, command, START);
    bench.now = START + 3_600_000;
    decide(bench.shard, { verb: "Tick" }, bench.now);
    expect(bench.shard.takeWoken()).toHaveLength(150_000);
  });

  test("as many types as a shard holds may wait for their turn", () => {
    const types = Array.from({ length: 200_000 }, (_, n) => ({
      tenant: "a",
      name: `t${n}`,
      count: 1,
      priority: 500,
      since: 0,
    }));
    expect(new FairScheduler().pick(types, 0)?.name).toBe("t0");
  });
});

describe("a CreateJobs that is made in parts", () => {
  const unique = (n: number): object => ({ name: "only", unique: "true", data: { [`k${n}`]: n } });

  test("may name the same unique job again and again", () => {
    const bench = new Bench();
    const jobs = Array.from({ length: 600 }, (_, n) => unique(n));
    expect(bench.ask("CreateJobs", list(jobs))).toBe("200 OK");
    bench.takeOver();
    expect(bench.get("only").view.data).toContain('"k599":599');
  });

  test("counts as a whole or not at all, with such a job too", () => {
    const jobs = [unique(0), unique(1), ...Array.from({ length: 600 }, () => ({ name: "plain" }))];
    const { units } = decide(new Bench().shard, commandOf(jobs), START);
    const changes = units.flat();
    const mark = changes.findIndex(({ kind }) => kind === "mark");
    expect(changes.slice(0, mark).filter(({ kind }) => kind === "set")).toEqual([]);
    expect(changes.slice(mark).filter(({ kind }) => kind === "set")).toHaveLength(1);
  });
});

describe("sizes", () => {
  test("the data of a unique job does not outgrow what a job's data may be", () => {
    const bench = new Bench();
    const data = (n: number): string => JSON.stringify({ [`k${n}`]: "x".repeat(40_000) });
    const id = bench.create({ unique: "true", data: data(0) });
    expect(bench.ask("CreateJob", { name: "job", unique: "true", data: data(1) })).toBe("402 Malformed data");
    expect(bench.query(id)["data"]).toBe(data(0));
  });

  test("a job's data has a megabyte at most, a result sixteen, wherever they are to be kept", () => {
    const kept = { tenant: "default", caller: { kind: "worker", worker: "w" } } as const;
    const read = (bytes: number) =>
      readCommand("CreateJob", { name: "a", data: `{"a":"${"x".repeat(bytes - 8)}"}` }, kept);
    expect(read(1024 * 1024)).toMatchObject({ verb: "CreateJobs" });
    expect(read(1024 * 1024 + 1)).toMatchObject({ code: 402, text: "Malformed data" });
    const end = (bytes: number) => readCommand("FinishJob", { jobID: "1", result: "x".repeat(bytes) }, kept);
    expect(end(16 * 1024 * 1024)).toMatchObject({ verb: "FinishJob" });
    expect(end(16 * 1024 * 1024 + 1)).toMatchObject({ code: 402, text: "Malformed result" });
  });

  test("one command makes, and asks for, ten thousand jobs and no more", () => {
    const bench = new Bench();
    const jobs = (count: number): string => JSON.stringify(Array.from({ length: count }, () => ({ name: "a" })));
    expect(bench.ask("CreateJobs", { jobs: jobs(10_001) })).toBe("402 Malformed jobs");
    expect(bench.ask("CreateJobs", { jobs: jobs(10_000) })).toBe("200 OK");
    const ids = Array.from({ length: 10_001 }, (_, n) => n + 1).join(",");
    expect(bench.ask("RequeueJobs", { jobIDs: ids })).toBe("402 Malformed jobIDs");
  });

  test("one answer brings as many jobs as it can hold", () => {
    const bench = new Bench();
    const data = { text: "x".repeat(50_000) };
    for (let n = 0; n < 8; n++)
      bench.reply("CreateJobs", list(Array.from({ length: 100 }, () => ({ name: "job", data }))));
    const { content } = bench.reply("GetJobs", { name: "job", numResults: 10_000 });
    const taken = content.kind === "taken" ? content.jobs : [];
    expect(taken.length).toBeGreaterThan(0);
    expect(JSON.stringify(taken).length).toBeLessThan(20 * 1024 * 1024);
    expect(bench.ask("GetJob", { name: "job" })).toBe("200 OK");
  });
});

describe("jobs that never arrived", () => {
  test("keep their place and their schedule", () => {
    const bench = new Bench();
    const id = bench.create({ firstRun: "2026-11-16 14:00:00", repeat: "SCHEDULED,+1 HOUR" });
    bench.at("2026-11-16 14:00:05");
    const { token } = bench.get();
    const back = { ids: [id], name: null, decrementFailures: true, leases: [token] };
    bench.run({ verb: "RequeueJobs", tenant: "default", ...back });
    expect(bench.query(id)).toMatchObject({ state: "QUEUED", nextRun: "2026-11-16 14:00:00" });
    bench.ask("FinishJob", { jobID: id, lease: bench.get().token });
    expect(bench.query(id)["nextRun"]).toBe("2026-11-16 15:00:00");
  });
});

describe("a blob that the store has lost", () => {
  test("costs its own job, and not those that were taken along with it", async () => {
    const bench = new Bench();
    bench.create();
    const lost = bench.create();
    const { content, status } = bench.reply("GetJobs", { name: "job", numResults: 2 });
    if (content.kind !== "taken") throw new Error(status.text);
    const jobs = content.jobs.map(({ token, view }) => ({
      token,
      view: view.jobID === lost ? { ...view, dataRef: { sha256: "0".repeat(64), bytes: 70_000 } } : view,
    }));
    const store = { put: () => Promise.reject(new Error("not asked for")), get: () => Promise.resolve(null) };
    const whole = await fetchLarge({ status, content: { ...content, jobs } }, store);
    expect(whole?.content.kind === "taken" && whole.content.jobs.map(({ view }) => view.jobID)).toEqual([1]);
    const alone = { ...content, jobs: jobs.filter(({ view }) => view.jobID === lost) };
    expect(await fetchLarge({ status, content: alone }, store)).toBeNull();
  });
});

describe("another tenant's job", () => {
  test("is none, whatever is known of it", () => {
    const bench = new Bench();
    const id = bench.create({ repeat: "FINISHED, +1 DAY" });
    const { token } = bench.get();
    const asked = { jobID: id, lease: token, data: "{}", jobIDs: id };
    for (const verb of ["QueryJob", "UpdateJob", "FinishJob", "RetryJob", "FailJob", "CancelJob", "DeleteJob"])
      expect(bench.ask(verb, asked, "other")).toBe("404 No job with this jobID");
    expect(bench.ask("CreateJob", { name: "child", parentJobID: id }, "other")).toBe("404 parentJobID does not exist");
    expect(bench.ask("RequeueJobs", asked, "other")).toBe("200 OK");
    expect(bench.state(id)).toBe("RUNNING");
    bench.run({ verb: "RenewLeases", tenant: "other", leases: [{ id, token }] });
    expect(bench.ask("FinishJob", { jobID: id, lease: token })).toBe("200 OK");
    expect(bench.ask("FinishJob", { jobID: id, lease: token }, "other")).toBe("404 No job with this jobID");
  });
});

describe("data that is nested deep", () => {
  const nested = (levels: number): string => `${'{"a":'.repeat(levels)}1${"}".repeat(levels)}`;
  const TOO_DEEP = "402 Data is nested more than 100 levels deep";

  test("is refused wherever data comes in, and taken up to the bound", () => {
    const bench = new Bench();
    const id = bench.create({ data: nested(100) });
    expect(bench.ask("CreateJob", { name: "a", data: nested(101) })).toBe(TOO_DEEP);
    expect(bench.ask("CreateJobs", { jobs: `[{"name":"a","data":${nested(5_000)}}]` })).toBe(TOO_DEEP);
    expect(bench.ask("UpdateJob", { jobID: id, data: nested(5_000) })).toBe(TOO_DEEP);
    const { token } = bench.get();
    expect(bench.ask("FinishJob", { jobID: id, lease: token, data: nested(5_000) })).toBe(TOO_DEEP);
    expect(bench.ask("FinishJob", { jobID: id, lease: token, then: "[".repeat(9_000) })).toBe(TOO_DEEP);
  });

  test("brackets in texts are none", () => {
    expect(new Bench().ask("CreateJob", { name: "a", data: JSON.stringify({ a: '\\"[{'.repeat(500) }) })).toBe(
      "200 OK",
    );
  });
});

describe("one tenant", () => {
  const asJobs = (count: number): Command => commandOf(Array.from({ length: count }, () => ({ name: "a" })));

  test("cannot take all room of a shard from the others", () => {
    const bench = new Bench({ jobsPerTenant: 100 });
    expect(bench.run(asJobs(100)).status.code).toBe(200);
    expect(bench.ask("CreateJob", { name: "a" })).toBe("429 Too many jobs of tenant default: 100 is the limit");
    expect(bench.ask("CreateJob", { name: "a" }, "other")).toBe("200 OK");
    // The fleet's own jobs have no such bound.
    for (let n = 0; n < 101; n++) expect(bench.ask("CreateJob", { name: "a" }, "system")).toBe("200 OK");
    bench.takeOver();
    expect(bench.ask("CreateJob", { name: "a" })).toMatch(/^429 /);
  });

  test("has room again when jobs have ended, and its runs can still ask for more", () => {
    const bench = new Bench({ jobsPerTenant: 4 });
    bench.run(asJobs(4));
    const { view, token } = bench.get("a");
    const then = JSON.stringify([{ name: "b" }]);
    expect(bench.ask("FinishJob", { jobID: view.jobID, lease: token, then })).toBe("200 OK");
    const next = bench.get("a");
    const many = JSON.stringify([{ name: "b" }, { name: "b" }]);
    expect(bench.ask("FinishJob", { jobID: next.view.jobID, lease: next.token, then: many })).toMatch(/^429 /);
    expect(bench.ask("FinishJob", { jobID: next.view.jobID, lease: next.token })).toBe("200 OK");
    expect(bench.ask("CreateJob", { name: "a" })).toBe("200 OK");
  });
});

describe("what is sealed in a job of the fleet's own", () => {
  const SEALED = "405 What is sealed in the data of a job cannot be changed: delete the job and make another";
  const data = (batch: string, runs = 0): string => JSON.stringify({ sealed: { batch }, runs });
  const SYSTEM = { tenant: "system", caller: { kind: "worker", worker: "w" } } as const;
  /** As the door of those who may leaves it. */
  const sealing = (command: ReturnType<typeof readCommand>): Command => {
    if (isStatus(command) || command.verb !== "CreateJobs") throw new Error("not a CreateJob");
    return { ...command, jobs: command.jobs.map((job) => ({ ...job, seals: true as const })) };
  };
  const make = (bench: Bench): number => {
    const made = { name: "fleet/deposit/a", unique: "true", data: data("hers"), repeat: "DAILY" };
    expect(bench.run(sealing(readCommand("CreateJob", made, SYSTEM))).status.code).toBe(200);
    return bench.get("fleet/*", {}, "system").view.jobID;
  };

  test("cannot be changed by any command, other data can", () => {
    const bench = new Bench();
    const id = make(bench);
    for (const text of [data("his"), "{}", '{"runs":1}'])
      expect(bench.ask("UpdateJob", { jobID: id, data: text }, "system")).toBe(SEALED);
    for (const verb of ["FinishJob", "RetryJob", "FailJob"])
      expect(bench.ask(verb, { jobID: id, data: data("his") }, "system")).toBe(SEALED);
    expect(bench.ask("RetryJob", { jobID: id, name: "fleet/deposit/b" }, "system")).toBe(SEALED);
    const again = { name: "fleet/deposit/a", unique: "true", overwrite: "true", data: data("his") };
    const overwriting = bench.run(sealing(readCommand("CreateJob", again, SYSTEM)));
    expect(`${overwriting.status.code} ${overwriting.status.text}`).toBe(SEALED);
    expect(bench.ask("FinishJob", { jobID: id, data: data("hers", 1) }, "system")).toBe("200 OK");
    expect(bench.ask("UpdateJob", { jobID: id, data: data("hers", 2) }, "system")).toBe("200 OK");
  });

  test("is made by those alone who may: not by who touches the fleet's jobs otherwise", () => {
    const bench = new Bench();
    const forged = { name: "fleet/deposit/hers", data: { sealed: { by: "her" } }, seals: true };
    const NOT_YOURS = /^405 Only who may schedule deposits/;
    const fields = { name: forged.name, data: JSON.stringify(forged.data), seals: "true" };
    expect(bench.ask("CreateJob", fields, "system")).toMatch(NOT_YOURS);
    expect(bench.ask("CreateJobs", { jobs: JSON.stringify([{ name: "x" }, forged]) }, "system")).toMatch(NOT_YOURS);
    bench.ask("CreateJob", { name: "fleet/purge" }, "system");
    const { view, token } = bench.get("fleet/*", {}, "system");
    const end = { jobID: view.jobID, lease: token, then: JSON.stringify([forged]) };
    expect(bench.ask("FinishJob", end, "system")).toMatch(NOT_YOURS);
    // Large data is in the store of blobs, where nobody looks for what it seals.
    const large = { text: "", ref: { sha256: "a".repeat(64), bytes: 1 } } as unknown as GivenData;
    const read = readCommand("CreateJob", { name: "fleet/x" }, SYSTEM);
    if (isStatus(read) || read.verb !== "CreateJobs") throw new Error("not a CreateJob");
    const command = { ...read, jobs: read.jobs.map((job) => ({ ...job, data: large })) };
    expect(bench.run(command).status.text).toMatch(/^Only who may schedule deposits/);
    // It is a word like any other elsewhere, and the fleet's other jobs are made as ever.
    expect(bench.ask("CreateJob", fields)).toBe("200 OK");
    expect(bench.ask("CreateJob", { name: "fleet/purge", data: '{"runsDays":1}' }, "system")).toBe("200 OK");
  });

  test("cannot be put into a job that has none", () => {
    const bench = new Bench();
    bench.ask("CreateJob", { name: "fleet/purge" }, "system");
    const { view } = bench.get("fleet/*", {}, "system");
    expect(bench.ask("UpdateJob", { jobID: view.jobID, data: data("his") }, "system")).toBe(SEALED);
  });
});
