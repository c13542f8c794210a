/** What has ended leaves the tree by itself, and is still known. When it cannot leave, callers are held back. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { readTransactions, testZooKeeper, type TestZooKeeper, waitFor } from "@sluice/testkit";
import { checkQueue } from "../src/check/check.ts";
import type { EndedInTree } from "../src/limits.ts";
import { DoneIndex } from "../src/owner/done-index.ts";
import type { OwnerPorts, ShardOwner } from "../src/owner/owner.ts";
import { paths } from "../src/paths.ts";
import type { RunView } from "../src/shard/views.ts";
import { MemoryArchive } from "./support/memory-archive.ts";
import { command, idOf, type Process, startProcess, takenOf } from "./support/owners.ts";

const FEW: EndedInTree = { runs: 10, bytes: 1e6, mostRuns: 30, mostBytes: 1e6, sliceRuns: 5, sliceBytes: 1e6 };

let zooKeeper: TestZooKeeper;
let process: Process;
let owner: ShardOwner;
let archive: MemoryArchive;
let told: string[];

beforeAll(async () => {
  zooKeeper = await testZooKeeper();
  process = await startProcess(zooKeeper.connect, "api-1");
});
afterAll(() => process.close());
beforeEach(() => {
  archive = new MemoryArchive();
  told = [];
});
afterEach(() => owner.resign());

const own = (limits: EndedInTree = FEW): Promise<ShardOwner> => {
  const archiveHooks: NonNullable<OwnerPorts["archiveHooks"]> = {
    onFailure: (error) => void told.push(String(error)),
    onHeldBack: (what) => void told.push(what),
    onUnreadable: (path) => void told.push(path),
  };
  return process.own({ archive, archiveHooks, endedInTree: limits });
};

interface Ended {
  readonly id: number;
  readonly token: string;
}

async function run(name: string, end: Readonly<Record<string, string | number>> = {}): Promise<Ended> {
  const id = idOf(await owner.ask(command("CreateJob", { name })));
  const { token } = takenOf(await owner.ask(command("GetJob", { name })))!;
  const answer = await owner.ask(command("FinishJob", { jobID: id, lease: token, ...end }));
  expect(answer?.status.code).toBe(200);
  return { id, token };
}

async function runs(count: number, name = "foo"): Promise<readonly Ended[]> {
  const all: Ended[] = [];
  for (let n = 0; n < count; n++) all.push(await run(name));
  return all;
}

const inTree = async (): Promise<number> => {
  const hours = await process.session.children(paths.done(0));
  let count = 0;
  for (const hour of hours.ok ? hours.value.names : []) {
    const entries = await process.session.children(paths.doneDirectory(0, hour));
    count += entries.ok ? entries.value.names.length : 0;
  }
  return count;
};

const code = async (verb: string, params: Readonly<Record<string, string | number>>): Promise<number | undefined> =>
  (await owner.ask(command(verb, params)))?.status.code;

describe("runs that have ended", () => {
  test("leave the tree as more come, the oldest first, and are still known there and to the next owner", async () => {
    owner = await own();
    const all = await runs(60);
    await waitFor(async () => (await inTree()) <= 15);
    expect(archive.kept.slice(0, 40).map(({ token }) => token)).toEqual(all.slice(0, 40).map(({ token }) => token));
    const [first] = all;
    const check = async (): Promise<void> => {
      expect(await code("FinishJob", { jobID: first!.id, lease: first!.token })).toBe(200);
      expect(await code("FinishJob", { jobID: first!.id, lease: "1.9999" })).toBe(404);
      expect((await owner.ask({ verb: "DescribeJob", tenant: "default", id: first!.id }))?.content).toMatchObject({
        record: { state: "FINISHED", runs: [{ lease: first!.token }] },
      });
    };
    await check();
    owner = await own();
    await check();
    // A unique job's name is free again when the job has ended.
    const unique = async (): Promise<number> =>
      idOf(await owner.ask(command("CreateJob", { name: "u", unique: "true" })));
    const id = await unique();
    expect(await unique()).toBe(id);
    const { token } = takenOf(await owner.ask(command("GetJob", { name: "u" })))!;
    await owner.ask(command("FinishJob", { jobID: id, lease: token }));
    await owner.emptyArchive(-2 * 3_600_000);
    expect(await unique()).not.toBe(id);
  });

  test("leave it by their bytes too, large results with them", async () => {
    owner = await own({ ...FEW, runs: 1_000, mostRuns: 2_000, bytes: 20_000, sliceBytes: 5_000 });
    const all: Ended[] = [];
    for (let n = 0; n < 10; n++) all.push(await run("large", { result: `${n}`.repeat(5_000) }));
    await waitFor(() => owner.ended.bytes <= 25_000);
    expect(archive.kept[0]).toMatchObject({ id: all[0]!.id, done: { result: "0".repeat(5_000) } });
  });

  test("are kept once by an owner that takes over in the middle of it", async () => {
    owner = await own({ ...FEW, runs: 1_000, mostRuns: 2_000 });
    const all = await runs(12);
    // The first owner kept these, and died before it deleted them.
    const before = [...archive.kept];
    const tree = await owner.ask({ verb: "ListRuns", tenant: "default", limit: 100 });
    const views = tree?.content.kind === "runs" ? tree.content.runs : [];
    for (const { jobID, lease, ended } of [...views].reverse().slice(0, 5))
      archive.kept.push({ id: jobID, token: lease, done: { name: "foo", tenant: "default", created: 1, ended } });
    owner = await own({ ...FEW, runs: 1_000, mostRuns: 2_000 });
    await owner.emptyArchive(-2 * 3_600_000);
    const tokens = archive.kept.slice(before.length).map(({ token }) => token);
    expect(tokens.filter((token) => all.some((each) => each.token === token)).sort()).toEqual(
      all.map(({ token }) => token).sort(),
    );
  });

  test("do not wait behind an entry that cannot be read: it is told, and stays", async () => {
    owner = await own({ ...FEW, runs: 1_000, mostRuns: 2_000 });
    await owner.emptyArchive(-2 * 3_600_000);
    const [first] = await runs(3);
    const [hour = ""] = await process.session.children(paths.done(0)).then((all) => (all.ok ? all.value.names : []));
    const path = paths.doneEntry(0, hour, first!.id, first!.token);
    await process.session.multi([{ op: "set", path, data: Buffer.from("{"), version: 0 }]);
    owner = await own();
    expect(await owner.emptyArchive(-2 * 3_600_000)).toBe(2);
    expect(told).toEqual([path]);
    expect(owner.quarantined).toEqual([{ id: null, problem: expect.stringContaining(path) as unknown }]);
    expect(await inTree()).toBe(1);
    await process.session.multi([{ op: "delete", path, version: 1 }]);
  });
});

test("pages over what moves to the archive meanwhile bring every run once", async () => {
  owner = await own({ ...FEW, runs: 1_000, mostRuns: 2_000 });
  await owner.emptyArchive(-2 * 3_600_000);
  archive.kept.length = 0;
  const old = await runs(10);
  await owner.emptyArchive(-2 * 3_600_000);
  const young = await runs(10);
  const listed: RunView[] = [];
  const page = async (after?: string): Promise<string | null> => {
    const answer = await owner.ask({
      verb: "ListRuns",
      tenant: "default",
      limit: 3,
      ...(after === undefined ? {} : { after }),
    });
    if (answer?.content.kind !== "runs") throw new Error("no runs");
    listed.push(...answer.content.runs);
    return answer.content.next;
  };
  let next = await page();
  // All leaves the tree, also what is shown already; and something new ends.
  await owner.emptyArchive(-2 * 3_600_000);
  await runs(2);
  await owner.emptyArchive(-2 * 3_600_000);
  while (next !== null) next = await page(next);
  expect(listed.map(({ lease }) => lease)).toEqual([...old, ...young].map(({ token }) => token).reverse());
});

test("an archive that cannot be written holds creates back, then takes, never ends; all goes on when it can", async () => {
  owner = await own();
  archive.problem = new Error("ENOSPC");
  const late = await Promise.all(
    Array.from({ length: 40 }, async (_, n) => idOf(await owner.ask(command("CreateJob", { name: `late-${n}` })))),
  );
  while (owner.ended.runs < 30) await run("foo");
  const refused = await owner.ask(command("CreateJob", { name: "foo" }));
  expect(refused?.status).toMatchObject({ code: 503, text: expect.stringContaining("archive") });
  for (let n = 0; owner.ended.runs < 60; n++) {
    const { token } = takenOf(await owner.ask(command("GetJob", { name: `late-${n}` })))!;
    expect(await code("FinishJob", { jobID: late[n]!, lease: token })).toBe(200);
  }
  expect(await code("GetJob", { name: "late-39" })).toBe(503);
  const waited = await owner.wait(command("GetJob", { name: "late-39" }) as never, 60_000);
  expect(waited?.status.code).toBe(503);
  expect(new Set(told)).toEqual(new Set(["Error: ENOSPC", "creates", "takes"]));
  archive.problem = null;
  await waitFor(() => owner.ended.runs <= 15);
  expect(await code("GetJob", { name: "late-39" })).toBe(200);
  await run("foo");
});

test("ends are remembered from the oldest on, in whatever order the directories are listed", () => {
  const index = new DoneIndex();
  index.load(
    new Map([
      ["2026111614-1", ["5-3.1"]],
      ["2026111614", ["4-2.10", "3-2.9"]],
      ["2026111613", ["1-1.1", "2-1.2"]],
    ]),
  );
  expect([...index.tokens()].map(([token]) => token)).toEqual(["1.1", "1.2", "2.9", "2.10", "3.1"]);
});

test("the log of all this shows no fault", () => {
  const faults = checkQueue(readTransactions(zooKeeper.logDir, zooKeeper.root), zooKeeper.root);
  // What a foreign hand wrote.
  const own = faults.filter(({ invariant }) => invariant !== "Q-02" && invariant !== "Q-16");
  expect(own.map(({ invariant, detail }) => `${invariant}: ${detail}`)).toEqual([]);
});
