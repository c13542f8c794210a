/**
 * Goal: under lost answers, operators' actions and killed workers, every claim, commit, snooze and resume tells its
 * caller the truth, and no fence is broken.
 * Method: workers behind fault proxies work a pool of jobs; each write's op id and verdict are noted. Afterwards
 * ZooKeeper's transaction log, which cannot be wrong, says which ops were applied; and every invariant is checked at
 * every zxid. The seed is printed; --seed repeats a run as far as the network allows.
 */
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import {
  type Actor,
  actOnJob,
  changePriority,
  type CommitResult,
  initTree,
  jobRow,
  type JobId,
  type JobState,
  type FleetIdentity,
  load,
  type LoadedJob,
  makeJobStore,
  peek,
  paths,
  PIPELINE,
  type QueueContext,
  records,
  resumeJob,
  sortEntries,
  meaningOf,
  type Lease,
} from "@sluice/queue-core";
import {
  aBatchOfJobs,
  checkInvariants,
  describeViolation,
  type FaultProxy,
  newId,
  type OwnZooKeeper,
  ownZooKeeper,
  readTransactions,
  registerWorker,
  startFaultProxy,
  testWorker,
  type TestWorker,
} from "@sluice/testkit";
import { seed, sized } from "../support/campaign.ts";
import { seeded } from "../support/random.ts";
import { openSession, makeCommitter, systemClock } from "@sluice/zookeeper";

const COMMITS = sized({ smoke: 600, whole: 5_000 });
/** Two for each stage. */
const WORKERS = 2 * PIPELINE.length;
const JOBS = 60;
const SESSION_MS = 4_000;
/** Steps of a worker before it dies. */
const LIFE = sized({ smoke: { least: 6, more: 20 }, whole: { least: 40, more: 120 } });
/** Of so many claimed jobs an operator fails one before its worker commits: that worker must be told. */
const OVERTAKEN_ONE_IN = 10;
const OPERATOR = { name: "olga", reason: "random" };

interface Noted {
  readonly op: string;
  readonly verdict: CommitResult["kind"];
}

let zk: OwnZooKeeper;
beforeAll(async () => {
  zk = await ownZooKeeper();
});
afterAll(async () => {
  await zk.stop();
});

describe(`random faults (seed ${seed})`, () => {
  test(`${COMMITS} commits: no wrong verdict, no fence broken`, async () => {
    const random = seeded(seed);
    const intake = await testWorker(zk.connect, "batch-intake");
    const operator = await testWorker(zk.connect, "operator", { register: false });
    await aBatchOfJobs(intake, JOBS);
    const noted: Noted[] = [];
    let kills = 0;
    const more = (): boolean => noted.length < COMMITS;

    async function work(n: number): Promise<void> {
      while (more()) {
        const worker = await openWorker(n, random);
        const killAfter = LIFE.least + random.below(LIFE.more);
        for (let i = 0; i < killAfter && more() && worker.ctx.session.state !== "lost"; i++) {
          await oneStep(worker, operator, random, noted);
        }
        kills += more() ? 1 : 0;
        await worker.kill();
      }
    }
    async function operate(): Promise<void> {
      while (more()) {
        for (const id of await jobsIn(operator, "Failed")) await resumeJob(operator.ctx, OPERATOR, id);
        const live = (await Promise.all(PIPELINE.map((state) => jobsIn(operator, state)))).flat();
        if (live.length < JOBS / 2) await aBatchOfJobs(intake, JOBS);
        if (live.length === 0) continue;
        await changePriority(operator.ctx, OPERATOR, random.pick(live), random.below(100));
        await actOnJob(operator.ctx, OPERATOR, "fail", random.pick(live));
      }
    }
    await Promise.all([...Array.from({ length: WORKERS }, (_, n) => work(n)), operate()]);
    await Promise.all([intake.close(), operator.close()]);

    const applied = appliedOps(zk.logDir);
    const wrong = noted.filter(({ op, verdict }) => (verdict === "applied") !== applied.has(op) && verdict !== "lost");
    const count = (kind: Noted["verdict"]): number => noted.filter(({ verdict }) => verdict === kind).length;
    const told = `${count("applied")} applied, ${count("fenced")} fenced, ${count("lost")} lost`;
    console.log(`seed ${seed}: ${noted.length} commits, ${kills} kills: ${told}`);
    expect(wrong).toEqual([]);
    expect([...applied.values()].filter((times) => times > 1)).toEqual([]);
    const checked = checkInvariants({ logDir: zk.logDir, root: "/" });
    expect(checked.violations.map(describeViolation)).toEqual([]);
    expect(checked.transactions).toBeGreaterThan(COMMITS);
    // The faults did happen: a run without them would prove nothing.
    expect(count("fenced")).toBeGreaterThan(0);
    expect(kills).toBeGreaterThan(WORKERS);
  });
});

interface ChaosWorker {
  readonly ctx: QueueContext;
  readonly actor: Actor;
  readonly state: JobState;
  readonly identity: FleetIdentity;
  kill(): Promise<void>;
}

/** A worker whose answers get lost now and then, and who ends as by kill -9: its session and locks stay until they expire. */
async function openWorker(n: number, random: ReturnType<typeof seeded>): Promise<ChaosWorker> {
  const state = PIPELINE[n % PIPELINE.length]!;
  const proxy: FaultProxy = await startFaultProxy(zk.connect);
  const opened = await openSession({ connect: proxy.connect, timeoutMs: SESSION_MS });
  if (!opened.ok) {
    // So short a session may not even begin on a busy machine.
    await proxy.close();
    return await openWorker(n, random);
  }
  const { session } = opened;
  const ctx: QueueContext = {
    session,
    committer: makeCommitter(session),
    clock: systemClock,
    newId,
  };
  const made = await initTree(ctx);
  if (!made.ok) {
    // Or end before it has done anything: another one takes its place.
    await session.close();
    await proxy.close();
    return await openWorker(n, random);
  }
  const actor: Actor = { stage: jobRow(state).owner ?? "", worker: `w${n}-${newId()}` };
  await registerWorker(ctx, actor);
  proxy.onRequest(({ opcode }) => {
    if (opcode !== "multi" || random.below(100) >= 4) return "pass";
    return random.below(2) === 0 ? "cutBefore" : "cutAfterForward";
  });
  const kill = async (): Promise<void> => {
    await proxy.setMode("refuse");
    await proxy.close();
    await session.close();
  };
  return { ctx, actor, state, identity: made.identity, kill };
}

/** Claims some job of the worker's stage and settles it some way; what it was told is noted. */
async function oneStep(
  worker: ChaosWorker,
  operator: TestWorker,
  random: ReturnType<typeof seeded>,
  noted: Noted[],
): Promise<void> {
  const { ctx, state } = worker;
  const names = await ctx.session.children(paths.queue(state));
  const entries = names.ok ? sortEntries(names.value.names) : [];
  if (entries.length === 0) return;
  const seen = await peek(ctx.session, state, [random.pick(entries)]);
  const candidate = seen.ok ? seen.value[0] : undefined;
  if (candidate?.kind !== "ready") return;
  const jobs = makeJobStore(ctx, worker.actor);
  const claim = await jobs.claim(candidate);
  if (claim.kind !== "acquired") return;
  const loaded = await loadOne(worker, claim.lease);
  if (loaded === null) return;
  if (random.below(OVERTAKEN_ONE_IN) === 0) await actOnJob(operator.ctx, OPERATOR, "fail", loaded.lease.id);
  // What settles a claim has the claim's own id in the history.
  const op = loaded.lease.claim;
  const result = await settleSomehow(jobs, loaded, random.below(10));
  if (result.kind === "refused") throw new Error(result.detail);
  noted.push({ op, verdict: result.kind });
}

async function jobsIn(worker: TestWorker, state: JobState): Promise<readonly JobId[]> {
  const names = await worker.session.children(paths.queue(state));
  return names.ok ? sortEntries(names.value.names).map(({ id }) => id) : [];
}

async function loadOne(worker: ChaosWorker, lease: Lease): Promise<LoadedJob | null> {
  const loaded = await load(worker.ctx.session, [lease], worker.identity);
  const job = loaded.ok ? loaded.value[0] : undefined;
  return job?.ok === true ? job.value : null;
}

function settleSomehow(jobs: ReturnType<typeof makeJobStore>, loaded: LoadedJob, how: number): Promise<CommitResult> {
  const wait = { delayMs: 0, why: "random" };
  if (how < 2) return jobs.giveBack(loaded.lease, "snooze", { ...wait, countsAttempt: false });
  if (how < 4) return jobs.giveBack(loaded.lease, "retry", { ...wait, countsAttempt: true });
  if (how < 5) return jobs.commit(loaded, { kind: "quarantine", message: "random" });
  return jobs.commit(loaded, { kind: "done", changes: how < 7 ? { priorityDelta: 1, spaceNeeded: how } : {} });
}

/** How often each op id was written into a job's history for the first time, by the log. */
function appliedOps(logDir: string): ReadonlyMap<string, number> {
  const applied = new Map<string, number>();
  const known = new Map<string, Set<string>>();
  for (const { kind, ops } of readTransactions(logDir)) {
    if (kind !== "write") continue;
    for (const op of ops) {
      if (op.op !== "set" || meaningOf(op.path).kind !== "fleet-job") continue;
      const history = records.fleetJob.decode(op.data);
      if (!history.ok) continue;
      const before = known.get(op.path) ?? new Set<string>();
      const now = new Set(history.value.events.map(([id]) => id));
      for (const id of now) if (!before.has(id)) applied.set(id, (applied.get(id) ?? 0) + 1);
      known.set(op.path, now);
    }
  }
  return applied;
}
