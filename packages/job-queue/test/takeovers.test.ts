/** Two processes that depose each other under load, with links that break: nothing is lost, nothing is done twice. */
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import {
  readTransactions,
  startFaultProxy,
  testZooKeeper,
  tree,
  waitFor,
  type FaultProxy,
  type TestZooKeeper,
} from "@sluice/testkit";
import { checkQueue } from "../src/check/check.ts";
import type { ShardOwner } from "../src/owner/owner.ts";
import { parseDoneName, paths } from "../src/paths.ts";
import type { Command } from "../src/shard/commands.ts";
import type { Reply } from "../src/shard/views.ts";
import { command, startProcess, takenOf, type Process } from "./support/owners.ts";

const JOBS = 300;
const CLIENTS = 12;
const TAKEOVERS = 8;

let zooKeeper: TestZooKeeper;
let proxies: readonly FaultProxy[];
let processes: readonly Process[];

beforeAll(async () => {
  zooKeeper = await testZooKeeper();
  proxies = await Promise.all([startFaultProxy(zooKeeper.connect), startFaultProxy(zooKeeper.connect)]);
  processes = await Promise.all(proxies.map((proxy, n) => startProcess(proxy.connect, `api-${n}`)));
});
afterAll(async () => {
  await Promise.all(processes.map((process) => process.close()));
  await Promise.all(proxies.map((proxy) => proxy.close()));
});

const violations = (): readonly string[] =>
  checkQueue(readTransactions(zooKeeper.logDir, zooKeeper.root), zooKeeper.root).map(
    ({ invariant, detail }) => `${invariant}: ${detail}`,
  );

test("every job that was promised is finished once, whoever owns the shard, and the log shows no fault", async () => {
  let owner: ShardOwner = await processes[0]!.own();
  const promised = new Set<number>();
  const finished: string[] = [];
  /** Asks whoever owns the shard; null is an answer too. */
  const ask = (asked: Command): Promise<Reply | null> => owner.ask(asked);

  const client = async (): Promise<void> => {
    while (promised.size < JOBS) {
      const created = await ask(command("CreateJob", { name: "foo", data: '{"x":1}' }));
      if (created?.content.kind === "ids") promised.add(created.content.ids[0]!);
      else await waitFor(() => !owner.over.aborted);
      await work();
    }
  };
  const work = async (): Promise<boolean> => {
    const asked = await ask(command("GetJob", { name: "foo" }));
    const taken = takenOf(asked);
    if (taken === null) return asked === null;
    for (;;) {
      const reply = await ask(command("FinishJob", { jobID: taken.view.jobID, lease: taken.token }));
      if (reply?.status.code === 200) finished.push(`${taken.view.jobID}-${taken.token}`);
      if (reply !== null) return true;
      await waitFor(() => !owner.over.aborted);
    }
  };

  const usurp = async (): Promise<void> => {
    for (let n = 1; n <= TAKEOVERS; n++) {
      const before = finished.length;
      await waitFor(() => finished.length > before + 5 || promised.size >= JOBS);
      proxies[n % 2]!.cut();
      owner = await processes[n % 2]!.own();
      const now = finished.length;
      await waitFor(() => finished.length > now + 2 || promised.size >= JOBS);
      proxies[n % 2]!.cut();
    }
  };
  await Promise.all([usurp(), ...Array.from({ length: CLIENTS }, client)]);
  while (await work());

  // Its connection was cut last: who owns the shard is connected again, and reads all of the tree.
  const last = await processes[0]!.own();
  const done = Object.keys(await tree(processes[0]!.session, { under: [paths.done(0)] }));
  const entries = done.flatMap((path) => parseDoneName(path.slice(path.lastIndexOf("/") + 1)) ?? []);
  const ended = entries.map(({ id }) => id);
  expect(new Set(ended).size).toBe(ended.length);
  expect(finished.filter((each) => !entries.some(({ id, token }) => each === `${id}-${token}`))).toEqual([]);
  // A job whose taking was never answered is still there: its lease will lapse. By id, since a job whose making was never
  // answered may be there too, and must not stand in for one that was lost.
  const listed = await last.ask({ verb: "ListJobs", tenant: "default" });
  const left = listed?.content.kind === "list" ? listed.content.jobs.map(({ jobID }) => jobID) : [];
  expect([...promised].filter((id) => !ended.includes(id) && !left.includes(id))).toEqual([]);
  expect(left.filter((id) => ended.includes(id))).toEqual([]);
  expect(finished.length).toBeGreaterThan(0);
  expect(violations()).toEqual([]);
});

test("the checker sees what a foreign hand does", async () => {
  const owner = await processes[0]!.own();
  await owner.ask(command("CreateJob", { name: "bar" }));
  const { session } = processes[1]!;
  await session.multi([{ op: "create", path: paths.group(0, "foreign"), data: Buffer.alloc(0) }]);
  expect(violations().filter((each) => each.startsWith("Q-02"))).toEqual([
    `Q-02: ${paths.group(0, "foreign")} written outside of a term`,
  ]);
});
