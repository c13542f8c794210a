/** An ensemble of three servers: its leader is killed while transactions are under way, and an owner's session ends. */
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import {
  type Ensemble,
  type FaultProxy,
  type OwnZooKeeper,
  readTransactions,
  startEnsemble,
  startFaultProxy,
  waitFor,
} from "@sluice/testkit";
import { checkQueue } from "../src/check/check.ts";
import { IN_FLIGHT } from "../src/limits.ts";
import type { ShardOwner } from "../src/owner/owner.ts";
import { command, idOf, startProcess, takenOf, type Process } from "./support/owners.ts";

let ensemble: Ensemble;
let process: Process;
let leader: OwnZooKeeper;

beforeAll(async () => {
  ensemble = await startEnsemble();
  process = await startProcess(ensemble.connect, "api-1");
  leader = (await ensemble.leader())!;
});
afterAll(async () => {
  await process.close();
  await ensemble.stop();
});

const survivor = (): OwnZooKeeper => ensemble.servers.find((server) => server !== leader)!;
const faults = (server: OwnZooKeeper): readonly string[] =>
  checkQueue(readTransactions(server.logDir)).map(({ invariant, detail }) => `${invariant}: ${detail}`);

const listed = async (owner: ShardOwner): Promise<readonly number[]> => {
  const answer = await owner.ask({ verb: "ListJobs", tenant: "default" });
  return answer?.content.kind === "list" ? answer.content.jobs.map(({ jobID }) => jobID) : [];
};

/** Takes and finishes until nothing is left; every end is answered, so each is counted once. */
async function finishAll(owner: ShardOwner): Promise<readonly number[]> {
  const finished: number[] = [];
  const worker = async (): Promise<void> => {
    for (;;) {
      const taken = takenOf(await owner.ask(command("GetJob", { name: "foo" })));
      if (taken === null) return;
      const answer = await owner.ask(command("FinishJob", { jobID: taken.view.jobID, lease: taken.token }));
      if (answer?.status.code === 200) finished.push(taken.view.jobID);
    }
  };
  await Promise.all(Array.from({ length: 20 }, worker));
  return finished.sort((a, b) => a - b);
}

test("an owner whose session is over has written nothing after its successor came", async () => {
  const proxy: FaultProxy = await startFaultProxy(survivor().connect);
  const lost = await startProcess(proxy.connect, "api-2", 2_000);
  const before = await lost.own();
  const kept = idOf(await before.ask(command("CreateJob", { name: "foo" })));
  await proxy.setMode("hold");
  const pending = Array.from({ length: 300 }, () => before.ask(command("CreateJob", { name: "foo" })));
  await waitFor(async () => {
    const there = await process.session.exists("/fleet/queue/terms/00.1");
    return there.ok && there.value === null;
  });
  const owner = await process.own();
  await proxy.setMode("pass");
  expect(await Promise.all(pending)).toEqual(Array.from({ length: 300 }, () => null));
  expect(before.over.aborted).toBe(true);
  expect(await finishAll(owner)).toEqual([kept]);
  await lost.close();
  await proxy.close();
  expect(faults(survivor())).toEqual([]);
});

test("a leader killed with four transactions under way loses none of them, and none is applied twice", async () => {
  let groups = 0;
  let unsettled = 0;
  const killed: Promise<void>[] = [];
  const onGroup = (): void => {
    groups += 1;
    if (groups === 2 * IN_FLIGHT) killed.push(leader.kill("SIGKILL"));
  };
  const owner = await process.own({ hooks: { onGroup, onResolved: (_, again) => (unsettled += again) } });
  const created: number[] = [];
  const making = Array.from({ length: 2_000 }, async () => {
    created.push(idOf(await owner.ask(command("CreateJob", { name: "foo", data: '{"x":1}' }))));
  });
  await Promise.all(making);
  await Promise.all(killed);
  expect(unsettled).toBeGreaterThan(0);
  created.sort((a, b) => a - b);
  expect(new Set(created).size).toBe(2_000);
  expect(await listed(owner)).toEqual(created);
  expect(await finishAll(owner)).toEqual(created);
  expect(owner.over.aborted).toBe(false);
  expect(faults(survivor())).toEqual([]);
});
