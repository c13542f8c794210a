/**
 * Goal: kill -9 of workers, runners, job-apis and ZooKeeper's leader, lines between job-apis that are cut, a record that
 * cannot be read and a full disk, under load: every accepted job reaches its end, none is run by two live owners.
 * Method: real processes on an ensemble of three servers. Each that is killed has a job in hand which only ends when
 * somebody else gets it. Runs are counted where they happened, and held against the leases in ZooKeeper's own log. The
 * seed decides who is met in which order, and when lines are cut.
 */
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { type JobClient, openJobs } from "@sluice/job-client";
import { checkQueue, paths, shardOf } from "@sluice/job-queue";
import { type Ensemble, readTransactions, startEnsemble, waitFor } from "@sluice/testkit";
import { seed, sized } from "../support/campaign.ts";
import { spoilJob } from "../support/job-queue/bad-record.ts";
import { doubleRuns, type Ledger, leasesIn, startLedger } from "../support/job-queue/ledger.ts";
import { type Accepted, type Load, startLoad } from "../support/job-queue/load.ts";
import { queueProcesses, type QueueProcesses } from "../support/job-queue/processes.ts";
import { seeded } from "../support/random.ts";

const TENANTS = ["acme", "default", "lines"];
const RUNNER = {
  JOB_TYPES: "call,code,held-call",
  ALLOW_LOOPBACK: "true",
  RETRY_DELAY_MS: "1000",
  HEARTBEAT_MS: "500",
  HARVEST_INTERVAL_MS: "500",
  NODE_HANDLERS: "weak",
};
const ROUNDS = sized({ smoke: 1, whole: 3 });
/** Between two cuts, at most. */
const CUT_MS = 600;
const LARGE_BYTES = 100_000;

let ensemble: Ensemble;
let ledger: Ledger;
let queue: QueueProcesses;
let jobs: JobClient;
let load: Load | null = null;
let started = 0;
const killed: string[] = [];
/** Of jobs whose records were written by a foreign hand. */
const spoiled: number[] = [];
const chance = seeded(seed);

const startRunner = async (): Promise<void> => {
  started += 1;
  await queue.startRunner(`runner-${started}`, queue.apis[started % queue.apis.length]!, RUNNER);
};
const startWorker = async (): Promise<void> => {
  started += 1;
  await queue.startWorker(`worker-${started}`, ledger.url, TENANTS);
};

beforeAll(async () => {
  [ensemble, ledger] = await Promise.all([startEnsemble(), startLedger(30)]);
  queue = await queueProcesses({ connect: ensemble.connect, apis: ["api-1", "api-2", "api-3"], sessionMs: 4_000 });
  await Promise.all(queue.apis.map(({ name }) => queue.startApi(name)));
  const [first, ...others] = queue.apis.map(({ http }) => http);
  jobs = openJobs({ urls: [first!, ...others], tenant: "acme", worker: "test" });
  for (const tenant of ["acme", "lines"]) {
    const of = jobs.forTenant(tenant);
    const handlers = { call: `${ledger.url}/call`, "held-call": `${ledger.url}/held` };
    for (const [type, body] of Object.entries(handlers)) await put(of, type, { lang: "http", body });
    await put(of, "code", { lang: "node", body: "return 'did ' + payload" });
  }
  await Promise.all([startRunner(), startRunner(), startWorker(), startWorker()]);
});
afterAll(async () => {
  await load?.stop();
  await queue.stop();
  await jobs.close();
  await Promise.all([ledger.close(), ensemble.stop()]);
});

async function put(of: JobClient, type: string, spec: Parameters<JobClient["putHandler"]>[1]): Promise<void> {
  await waitFor(async () => (await of.putHandler(type, spec)).ok, { what: `a handler of ${type}` });
}

/** Unique, because whoever gets no answer asks again: a second job of the kind would wait for ever for a death of its own. */
const made = (name: string): Promise<number> =>
  waitFor(async () => {
    const answer = await jobs.createJob({ name, unique: true });
    return answer.ok && answer.value;
  });

/** Kills whoever has a job that gets no answer, puts another in its place, and waits until the job was done by somebody else. */
async function killHolder(name: string, startAnother: () => Promise<void>): Promise<void> {
  const id = await made(name);
  await waitFor(() => ledger.isHeld(id), { what: `job ${id} in hand` });
  const holder = await waitFor(async () => {
    const found = await jobs.describe(id);
    return found.ok && found.value.owner !== "" && found.value.owner;
  });
  await queue.kill(holder);
  killed.push(holder);
  await startAnother();
  const run = await waitFor(
    async () => {
      const found = await jobs.describe(id);
      return found.ok && found.value.state === "FINISHED" && found.value.runs[0];
    },
    { what: `the end of job ${id}, which ${holder} had` },
  );
  expect(run).toMatchObject({ outcome: "finished", exit: 200 });
  expect(run.owner).not.toBe(holder);
}

/** Some at a time: a process has only so many connections. */
async function notEndedOnce(accepted: readonly Accepted[]): Promise<readonly string[]> {
  const findings: string[] = [];
  const left = [...accepted];
  const look = async (): Promise<void> => {
    for (let next = left.pop(); next !== undefined; next = left.pop()) {
      const { tenant, id } = next;
      const found = await jobs.forTenant(tenant).describe(id);
      const ends = found.ok ? found.value.runs.filter(({ outcome }) => outcome === "finished") : [];
      const state = found.ok ? found.value.state : "not found";
      if (state !== "FINISHED" || ends.length !== 1)
        findings.push(`job ${id} of ${tenant}: ${state}, ended ${ends.length} times`);
    }
  };
  await Promise.all(Array.from({ length: 10 }, look));
  return findings;
}

/** Of the shard that this job stands in. */
async function killOwner(id: number): Promise<void> {
  const owner = await waitFor(async () => {
    const shards = await jobs.shards();
    return shards.ok && shards.value.items.find(({ shard }) => shard === shardOf(id))?.owner;
  });
  await queue.kill(owner);
  killed.push(owner);
  await queue.startApi(owner);
}

/** Lines between the job-apis, now this one's and now that one's, until it is told to stop. */
function startCutting(): { stop(): Promise<number> } {
  const stopping = new AbortController();
  const cutting = (async () => {
    let cuts = 0;
    for (; !stopping.signal.aborted; cuts++) {
      await pause(chance.below(CUT_MS));
      queue.cutLines(chance.pick(queue.apis).name);
    }
    return cuts;
  })();
  return { stop: () => (stopping.abort(), cutting) };
}

/** The owner finds out with its next write, gives the shard up, and the next one sets the job aside. */
async function plantBadRecord(tenant: string): Promise<void> {
  const of = jobs.forTenant(tenant);
  const id = await waitFor(async () => {
    const answer = await of.createJob({ name: "odd", unique: true });
    return answer.ok && answer.value;
  });
  spoiled.push(id);
  const { text } = await spoilJob(ensemble.connect, id);
  const described = await waitFor(
    async () => {
      await of.getJob({ name: "odd" });
      const found = await of.describe(id);
      return found.ok && found.value.unreadable !== null && found.value;
    },
    { what: `job ${id} of ${tenant} set aside` },
  );
  expect(described).toMatchObject({ name: "odd", state: "FAILED", unreadable: { bytes: text } });
  await waitFor(async () => (await of.delete(id)).ok, { what: `job ${id} deleted` });
}

/** What needs it is refused, and nothing else; all goes on when there is room again. */
async function fillDisk(accepted: Accepted[]): Promise<void> {
  // The store has the same bytes once: these are new each time.
  let tries = 0;
  const large = () =>
    jobs.createJob({ name: "work", data: { payload: `${accepted.length} ${tries++} ${"x".repeat(LARGE_BYTES)}` } });
  await queue.setDisk("full");
  try {
    await waitFor(async () => !(await large()).ok, { what: "a job that the store cannot take" });
    await waitFor(async () => (await jobs.createJob({ name: "work" })).ok, { what: "a small job" });
  } finally {
    await queue.setDisk("free");
  }
  const id = await waitFor(async () => {
    const answer = await large();
    return answer.ok && answer.value;
  });
  accepted.push({ tenant: jobs.tenant, id });
}

/** In any order, one or two at a time. */
async function shuffled(steps: readonly (() => Promise<unknown>)[]): Promise<void> {
  const left = [...steps];
  while (left.length > 0) {
    const some = Array.from({ length: Math.min(left.length, 1 + chance.below(2)) }, () =>
      left.splice(chance.below(left.length), 1),
    );
    await Promise.all(some.flat().map((step) => step()));
  }
}

test("every accepted job reaches its end, each of its runs under a lease of its own", async () => {
  load = startLoad(jobs, queue.apis);
  const { accepted, counts } = load;
  const grown = async (by: number): Promise<void> => {
    const before = accepted.length;
    await waitFor(() => accepted.length >= before + by, { what: `${by} more jobs` });
  };
  await grown(30);
  const cutting = startCutting();
  for (let round = 0; round < ROUNDS; round++) {
    const [first, second] = [chance.pick(TENANTS), chance.pick(TENANTS)];
    await shuffled([
      () => Promise.all([killHolder("held-call", startRunner), killHolder("held", startWorker)]),
      () => killOwner(accepted.findLast(({ tenant }) => tenant === first)!.id),
      () => plantBadRecord(second),
      () => fillDisk(accepted),
    ]);
    await grown(10);
  }
  const leader = (await ensemble.leader())!;
  await leader.kill("SIGKILL");
  await grown(20);
  await waitFor(() => ensemble.leader(), { what: "another leader" });
  await Promise.all([killHolder("held-call", startRunner), grown(20)]);
  await leader.restart();
  const cuts = await cutting.stop();
  await load.stop();

  for (const tenant of TENANTS)
    await waitFor(
      async () => {
        const left = await jobs.forTenant(tenant).list();
        return left.ok && left.value.items.length === 0;
      },
      { what: `the end of all jobs of ${tenant}` },
    );
  expect(await notEndedOnce(accepted)).toEqual([]);
  const done = `accepted ${JSON.stringify(counts)}, ${ledger.runs.length} runs, ${cuts} cuts, killed ${killed.join()}`;
  console.log(`seed ${seed}: ${done}`);
  expect(queue.ended).toEqual([]);
  for (const count of Object.values(counts)) expect(count).toBeGreaterThan(0);
});

test("the registry says who is dead, and the log shows no fault", async () => {
  const dead = await waitFor(async () => {
    const listed = await jobs.workers();
    const names = listed.ok ? listed.value.items.flatMap(({ Name, Status }) => (Status === "DEAD" ? [Name] : [])) : [];
    return names.length >= ROUNDS + 1 && names;
  });
  expect(dead.sort()).toEqual(killed.filter((name) => name.startsWith("runner")).sort());

  const { logDir } = await untouched();
  const transactions = [...readTransactions(logDir)];
  const leases = leasesIn(transactions);
  expect(doubleRuns(ledger.runs, leases)).toEqual([]);
  const holders = new Set([...leases.values()].flat().map(({ worker }) => worker));
  expect([...killed.filter((name) => !name.startsWith("api"))].filter((name) => !holders.has(name))).toEqual([]);
  const faults = checkQueue(transactions).map(({ invariant, detail }) => `${invariant}: ${detail}`);
  const foreign = spoiled.flatMap((id) => [
    `Q-02: ${paths.job(id)} written outside of a term`,
    expect.stringMatching(`^Q-05: job ${id}: .*lane`) as unknown,
  ]);
  expect(faults).toEqual(foreign);
});

test("a run under another's lease, or beside a live one, would be found", () => {
  const lease = { worker: "w", token: "1.1", fromMs: 0, untilMs: 50 };
  const leases = new Map([[7, [lease, { ...lease, token: "1.2", fromMs: 50, untilMs: 90 }]]]);
  const run = (startMs: number, endMs: number, job = 7) => ({ job, lease: null, startMs, endMs });
  expect(doubleRuns([run(10, 60), run(55, 80)], leases)).toEqual([]);
  expect(doubleRuns([run(10, 20), run(30, 40)], leases)).toEqual(["job 7 was run twice under lease 1.1"]);
  expect(doubleRuns([run(10, 20, 8)], leases)).toEqual(["job 8 was run without a lease"]);
  const early = { ...run(40, 80), lease: "1.2" };
  expect(doubleRuns([run(10, 60), early], leases)).toEqual(["job 7 was run under leases 1.1 and 1.2 at once"]);
});

/** A server that was there all the time. */
const untouched = async (): Promise<Ensemble["servers"][number]> => waitFor(() => ensemble.leader());
