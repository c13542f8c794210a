/** Jobs with as much data as the tree takes, many at once: no transaction may grow beyond what ZooKeeper accepts. */
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { getEventListeners } from "node:events";
import { testZooKeeper, waitFor } from "@sluice/testkit";
import type { ShardOwner } from "../src/owner/owner.ts";
import type { GetJobs } from "../src/shard/commands.ts";
import { command, startProcess, type Process } from "./support/owners.ts";

const JOBS = 60;

let process: Process;
let owner: ShardOwner;

beforeAll(async () => {
  process = await startProcess((await testZooKeeper()).connect, "api-1");
  owner = await process.own();
});
afterAll(async () => {
  await process.close();
});

const jobs = (unique: boolean): string =>
  JSON.stringify(
    Array.from({ length: JOBS }, (_, n) => ({
      name: unique ? `u${n}` : "heavy",
      unique: String(unique),
      data: { text: "x".repeat(30_000), n: Math.random() },
    })),
  );

test("are made, made again, taken, lost and given back", async () => {
  for (const unique of [false, true, true])
    expect((await owner.ask(command("CreateJobs", { jobs: jobs(unique) })))?.status.code).toBe(200);
  const taken = await owner.ask(command("GetJobs", { name: "heavy", numResults: JOBS, leaseMs: 1_000 }));
  expect(taken?.content.kind === "taken" && taken.content.jobs.length).toBe(JOBS);
  // Their leases run out together.
  const again = await owner.wait(command("GetJobs", { name: "heavy", numResults: 1 }) as GetJobs, 60_000);
  expect(again?.status.text).toBe("OK");
  await owner.ask({ verb: "ReleaseWorker", worker: "w" });
  expect(owner.over.aborted).toBe(false);
});

test("are the same for the next owner, whose term leaves nothing behind in the session", async () => {
  const before = getEventListeners(process.session.lost, "abort").length;
  await owner.resign();
  owner = await process.own();
  expect(getEventListeners(process.session.lost, "abort")).toHaveLength(before);
  const all = await owner.ask(command("GetJobs", { name: "*", numResults: 1000 }));
  const taken = all?.content.kind === "taken" ? all.content.jobs : [];
  expect(taken.map(({ view }) => view.data.length > 30_000)).toEqual(Array.from({ length: 2 * JOBS }, () => true));
});

test("a caller that waits again and again is listened to once", async () => {
  const gone = new AbortController();
  const get = command("GetJob", { name: "light" }) as GetJobs;
  for (let n = 0; n < 3; n++) {
    const waiting = owner.wait(get, 60_000, gone.signal);
    await waitFor(() => getEventListeners(gone.signal, "abort").length > 0, { what: "a waiter" });
    await owner.ask(command("CreateJob", { name: "light" }));
    expect((await waiting)?.status.text).toBe("OK");
    expect(getEventListeners(gone.signal, "abort")).toHaveLength(0);
  }
});
