/** Whose turn it is among very many types: processor time of one look for a runner that takes one job, or sixteen. */
import { loadavg } from "node:os";
import { AGED_MS, decide, FairScheduler, Shard } from "@sluice/job-queue";
import { command } from "./owner-calls.ts";
import { print } from "./print.ts";

const PART = 500;
const LOOKS = 200;
/** What a look may cost, in ms of processor time. */
const MOST_MS = 1;

export function measureTurns(names: number): boolean {
  const shard = shardOf(names);
  const scheduler = new FairScheduler();
  let isQuick = true;
  for (const limit of [1, 16]) {
    look(shard, scheduler, limit);
    const before = process.cpuUsage();
    for (let n = 0; n < LOOKS; n++) look(shard, scheduler, limit);
    const { user, system } = process.cpuUsage(before);
    const cpuMs = Math.round((user + system) / LOOKS) / 1_000;
    print("turns", { names, limit, cpuMs, load: Number(loadavg()[0]?.toFixed(1)) });
    isQuick &&= cpuMs <= MOST_MS;
  }
  return isQuick;
}

function shardOf(names: number): Shard {
  const shard = new Shard(
    {
      shard: 0,
      term: 1,
      ids: { next: 0, term: 1 },
      jobs: new Map(),
      blocks: [],
      marks: new Set(),
      ended: [],
      guests: new Map(),
      brokenGuests: new Set(),
      crashed: {},
      unreadable: new Map(),
    },
    Date.now(),
    { jobsPerTenant: names },
  );
  for (let from = 0; from < names; from += PART) {
    const jobs = Array.from({ length: Math.min(PART, names - from) }, (_, n) => ({ name: `type/${from + n}` }));
    decide(shard, command("CreateJobs", { jobs: JSON.stringify(jobs) }), Date.now());
  }
  return shard;
}

/** As a router plans a take. */
function look(shard: Shard, scheduler: FairScheduler, limit: number): void {
  const now = Date.now();
  const waiting = shard.index.turns({ most: limit, agedBefore: now - AGED_MS, isWanted: ({ count }) => count > 0 });
  for (let n = 0; n < limit; n++) scheduler.pick(waiting, now);
}
