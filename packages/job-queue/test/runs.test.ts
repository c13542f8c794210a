/** What is known of runs that have ended, in the tree and in the archive, on a real ZooKeeper. */
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { readTransactions, testZooKeeper, type TestZooKeeper, tree } from "@sluice/testkit";
import { checkQueue } from "../src/check/check.ts";
import type { ShardOwner } from "../src/owner/owner.ts";
import { paths } from "../src/paths.ts";
import type { NewJob } from "../src/shard/commands.ts";
import type { JobRecord, RunView } from "../src/shard/views.ts";
import { MemoryArchive } from "./support/memory-archive.ts";
import { command, idOf, startProcess, takenOf, type Process } from "./support/owners.ts";

let zooKeeper: TestZooKeeper;
let process: Process;
let owner: ShardOwner;
const archive = new MemoryArchive();

beforeAll(async () => {
  zooKeeper = await testZooKeeper();
  process = await startProcess(zooKeeper.connect, "api-1");
  owner = await process.own({ archive });
});
afterAll(() => process.close());

async function run(
  name: string,
  params: Readonly<Record<string, string | number>> = {},
  verb = "FinishJob",
): Promise<number> {
  const id = idOf(await owner.ask(command("CreateJob", { name, data: params["data"] ?? "{}" })));
  const { token } = takenOf(await owner.ask(command("GetJob", { name })))!;
  const { data: _, ...end } = params;
  await owner.ask(command(verb, { jobID: id, lease: token, ...end }));
  return id;
}

async function describeJob(id: number, tenant = "default"): Promise<JobRecord | number> {
  const answer = await owner.ask({ verb: "DescribeJob", tenant, id });
  return answer?.content.kind === "record" ? answer.content.record : (answer?.status.code ?? 0);
}

/** Page by page, to the end. */
async function listRuns(names?: readonly string[], limit = 2): Promise<readonly RunView[]> {
  const runs: RunView[] = [];
  for (let after: string | null = ""; after !== null;) {
    const answer = await owner.ask({
      verb: "ListRuns",
      tenant: "default",
      limit,
      ...(names === undefined ? {} : { names }),
      ...(after === "" ? {} : { after }),
    });
    if (answer?.content.kind !== "runs") throw new Error("no runs");
    runs.push(...answer.content.runs);
    after = answer.content.next;
  }
  return runs;
}

const LARGE = JSON.stringify({ x: "x".repeat(5_000) });

describe("a job that has ended", () => {
  test("is told with everything, from the tree, by its next owner, and from the archive", async () => {
    const id = await run("a", { data: LARGE, exitCode: 201, result: "r".repeat(2_000) });
    const told = async (): Promise<void> => {
      expect(await describeJob(id)).toMatchObject({
        jobID: id,
        name: "a",
        state: "FINISHED",
        owner: "w",
        data: LARGE,
        exit: 201,
        result: "r".repeat(2_000),
        runs: [{ outcome: "finished", worker: "w" }],
      });
      expect(await describeJob(id, "other")).toBe(404);
    };
    await told();
    owner = await process.own({ archive });
    await told();
    expect(await owner.emptyArchive(-2 * 3_600_000)).toBe(1);
    await told();
    owner = await process.own({ archive });
    await told();
    expect(await describeJob(999)).toBe(404);
  });

  test("and lives tells both, newest run first", async () => {
    const id = await run("b", { exitCode: 500, result: "once" }, "RetryJob");
    const { token } = takenOf(await owner.ask(command("GetJob", { name: "b" })))!;
    await owner.ask(command("FailJob", { jobID: id, lease: token, exitCode: 400, result: "no" }));
    const runs = [
      { outcome: "failed", exit: 400 },
      { outcome: "retried", exit: 500 },
    ];
    expect(await describeJob(id)).toMatchObject({ state: "FAILED", exit: 400, result: "no", runs });
    expect(await describeJob(id)).toMatchObject({ state: "FAILED", exit: 400, runs });
  });
});

describe("DeleteJob removes all trace", () => {
  const gone = async (...ids: readonly number[]): Promise<void> => {
    for (const id of ids) expect(await describeJob(id)).toBe(404);
    const listed = await listRuns(undefined, 1_000);
    expect(listed.filter(({ jobID }) => ids.includes(jobID))).toEqual([]);
    expect(archive.kept.filter(({ id }) => ids.includes(id))).toEqual([]);
    const nodes = await tree(process.session, { under: [paths.done(0)] });
    expect(Object.keys(nodes).filter((path) => ids.some((id) => path.includes(`/${id}-`)))).toEqual([]);
  };
  const deleted = async (jobID: number): Promise<string> => {
    const answer = await owner.ask(command("DeleteJob", { jobID }));
    expect(answer?.content).toEqual({ kind: "none" });
    return `${answer?.status.code ?? 0} ${answer?.status.text ?? ""}`;
  };

  test("of a job whose runs are in the archive, in the tree of an earlier term, and in this one's", async () => {
    const id = await run("e", { exitCode: 500, result: "r".repeat(2_000) }, "RetryJob");
    const other = await run("e-other");
    const again = async (verb: string): Promise<void> => {
      const { token } = takenOf(await owner.ask(command("GetJob", { name: "e" })))!;
      await owner.ask(command(verb, { jobID: id, lease: token, exitCode: 500, result: "s".repeat(2_000) }));
    };
    await owner.emptyArchive(-2 * 3_600_000);
    await again("RetryJob");
    owner = await process.own({ archive });
    await again("FailJob");
    expect(await describeJob(id)).toMatchObject({ state: "FAILED", runs: [{}, {}, {}] });
    expect(await deleted(id)).toBe("200 OK");
    await gone(id);
    expect(await deleted(id)).toBe("404 No job with this jobID");
    expect(await describeJob(other)).toMatchObject({ runs: [{}] });
    owner = await process.own({ archive });
    await gone(id);
  });

  test("of a job that has finished, and so has left the queue; not of another tenant's", async () => {
    const id = await run("f", { result: "secret" });
    expect((await owner.ask({ verb: "DeleteJob", tenant: "other", id }))?.status.code).toBe(404);
    expect(await describeJob(id)).toMatchObject({ state: "FINISHED" });
    expect(await deleted(id)).toBe("200 OK");
    await gone(id);
    expect(await deleted(id)).toBe("404 No job with this jobID");
  });

  test("of its children too", async () => {
    const parent = idOf(await owner.ask(command("CreateJob", { name: "parent" })));
    const take = async (name: string): Promise<string> => takenOf(await owner.ask(command("GetJob", { name })))!.token;
    const lease = await take("parent");
    const child = idOf(await owner.ask(command("CreateJob", { name: "child", parentJobID: parent })));
    await owner.ask(command("FinishJob", { jobID: parent, lease }));
    await owner.ask(command("FinishJob", { jobID: child, lease: await take("child"), result: "secret" }));
    expect(await describeJob(child)).toMatchObject({ state: "FINISHED", runs: [{}] });
    expect(await deleted(parent)).toBe("200 OK");
    await gone(parent, child);
  });

  test("is not certain while the archive cannot be written: the same command again does the rest", async () => {
    const id = await run("g", { exitCode: 400 }, "FailJob");
    await owner.emptyArchive(-2 * 3_600_000);
    archive.problem = new Error("no space left");
    expect(await owner.ask(command("DeleteJob", { jobID: id }))).toBeNull();
    archive.problem = null;
    expect(await deleted(id)).toBe("200 OK");
    await gone(id);
  });

  test("but the end of a schedule keeps what is known of its runs", async () => {
    const id = idOf(await owner.ask(command("CreateJob", { name: "h", repeat: "FINISHED, +1 HOUR" })));
    const { token } = takenOf(await owner.ask(command("GetJob", { name: "h" })))!;
    await owner.ask(command("FinishJob", { jobID: id, lease: token }));
    expect((await owner.ask(command("DeleteJob", { jobID: id, afterRun: "true" })))?.status.code).toBe(200);
    expect(await describeJob(id)).toMatchObject({ state: "FINISHED", runs: [{}] });
  });
});

test("runs are listed newest first, page by page, over the tree and the archive", async () => {
  const old = [await run("c"), await run("d"), await run("c", { result: "r".repeat(2_000) })];
  await owner.emptyArchive(-2 * 3_600_000);
  const young = [await run("c"), await run("d"), await run("c")];
  const listed = await listRuns();
  expect(listed.slice(0, 6).map(({ jobID }) => jobID)).toEqual([...young.reverse(), ...old.reverse()]);
  // A large result is for who asks for the job.
  expect(listed[3]).toMatchObject({ result: null });
  expect((await listRuns(["c"])).map(({ name }) => name)).toEqual(["c", "c", "c", "c"]);
  expect((await listRuns(undefined, 1_000)).length).toBe(listed.length);
});

test("what journals brought in and types that crash outlive their owner; the log shows no fault", async () => {
  const reserved = await owner.ask({ verb: "ReserveIds", guest: "api-1" });
  const id = reserved?.content.kind === "block" ? reserved.content.first : 0;
  const created = command("CreateJob", { name: "j" });
  const job: NewJob = created.verb === "CreateJobs" ? created.jobs[0]! : (undefined as never);
  const ingest = {
    verb: "IngestAdds",
    guest: "api-1",
    file: "1",
    offset: 10,
    after: 0,
    jobs: [{ id, tenant: "default", at: 1, job }],
  } as const;
  expect((await owner.ask(ingest))?.status.code).toBe(200);
  await owner.ask(command("CrashBedrockJob", { name: "x" }));
  const { token } = takenOf(await owner.ask(command("GetJob", { name: "j" })))!;
  await owner.ask(command("FinishJob", { jobID: id, lease: token }));
  owner = await process.own({ archive });
  expect((await owner.ask(ingest))?.status.code).toBe(200);
  expect(takenOf(await owner.ask(command("GetJob", { name: "j" })))).toBeNull();
  const crashing = idOf(await owner.ask(command("CreateJob", { name: "x" })));
  await owner.ask(command("GetJob", { name: "x" }));
  expect(await describeJob(crashing)).toMatchObject({ state: "FAILED" });
  await owner.ask(command("ClearCrashedBedrockJobs"));
  const faults = checkQueue(readTransactions(zooKeeper.logDir, zooKeeper.root), zooKeeper.root);
  expect(faults.map(({ invariant, detail }) => `${invariant}: ${detail}`)).toEqual([]);
});
