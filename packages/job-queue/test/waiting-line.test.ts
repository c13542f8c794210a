/** Whoever waits gets a job as soon as there is one: any interleaving is held against lists that are filtered and sorted. */
import { expect, test } from "@jest/globals";
import fc from "fast-check";
import { matchesName, parseNames } from "../src/names.ts";
import type { Wanted } from "../src/memory/ready-index.ts";
import { WaitingLine } from "../src/owner/waiting-line.ts";
import type { GetJobs, NewJob } from "../src/shard/commands.ts";
import { isStatus } from "../src/shard/params.ts";
import { readCommand } from "../src/shard/request.ts";
import { NO_DATA } from "../src/shard/data.ts";
import { Bench } from "./support/bench.ts";

const NAMES = ["mail", "report/day", "report/week"] as const;
const PRIORITIES = [0, 500, 1000] as const;

const job = fc.record({
  name: fc.constantFrom(...NAMES),
  priority: fc.constantFrom(...PRIORITIES),
  /** When it is due, from now. */
  delay: fc.constantFrom(0, 0, 0, 1, 5, 20),
  mock: fc.constantFrom(false, false, false, true),
});
const nth = fc.nat(9);
const PLAIN = {
  data: NO_DATA,
  unique: false,
  overwrite: true,
  parent: null,
  repeat: null,
  retryAfter: null,
  maxRunTime: null,
  onFinish: null,
} as const;
const tenant = fc.constantFrom("default", "default", "default", "acme");
/** Mostly callers that wait and jobs that come to them: the rest happens now and then in between. */
const step = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant("create" as const),
      tenant,
      jobs: fc.array(job, { minLength: 1, maxLength: 4 }),
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant("wait" as const),
      tenant,
      names: fc.constantFrom("*", "*", "mail", "report/*", "mail,report/week", "nothing"),
      priority: fc.constantFrom(null, null, null, null, ...PRIORITIES),
      mocked: fc.constantFrom(false, false, true),
      limit: fc.constantFrom(1, 1, 1, 3),
      timeout: fc.constantFrom(3, 15, 100_000, 100_000),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("pass" as const), ms: fc.constantFrom(1, 2, 5, 10) }) },
  fc.record({ kind: fc.constant("give-up" as const), nth }),
  fc.record({ kind: fc.constant("retry" as const), nth, seconds: fc.constantFrom(0, 1) }),
  fc.record({ kind: fc.constant("requeue" as const), nth }),
  fc.record({ kind: fc.constant("prefer" as const), nth, priority: fc.constantFrom(...PRIORITIES) }),
  fc.record({ kind: fc.constant("delete" as const), nth }),
);
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never;

interface PlainJob {
  readonly id: number;
  readonly tenant: string;
  readonly name: string;
  readonly mock: boolean;
  priority: number;
  nextRun: number;
  /** The lease of whoever has it. */
  lease: string | null;
}

interface PlainWaiter {
  readonly command: GetJobs;
  readonly deadline: number;
  readonly giveUp: () => void;
}

const wants = ({ tenant: of, names, priority, mocked }: Wanted, each: PlainJob): boolean =>
  each.tenant === of &&
  matchesName(names, each.name) &&
  (priority === null || priority === each.priority) &&
  (mocked || !each.mock);

/** The line over a shard, and beside it what is plainly true. */
class Scene {
  readonly bench = new Bench();
  readonly jobs = new Map<number, PlainJob>();
  readonly waiters = new Map<number, PlainWaiter>();
  readonly line = new WaitingLine({
    best: (wanted) => this.bench.shard.index.best(wanted),
    takeWoken: () => this.bench.shard.takeWoken(),
    carryOut: (command) => this.bench.run(command),
    whenWritten: (listener) => listener(true),
    onLeft: () => (this.left += 1),
  });
  left = 0;
  #nextWaiter = 0;

  due(wanted: Wanted): readonly PlainJob[] {
    return [...this.jobs.values()]
      .filter((each) => each.lease === null && each.nextRun <= this.bench.now && wants(wanted, each))
      .sort((a, b) => b.priority - a.priority || a.nextRun - b.nextRun || a.id - b.id);
  }

  do(each: Step): void {
    switch (each.kind) {
      case "create":
        this.#create(each.tenant, each.jobs);
        break;
      case "wait":
        this.#wait(each);
        break;
      case "give-up":
        this.#nth(this.waiters, each.nth)?.giveUp();
        break;
      case "pass":
        this.bench.pass(each.ms);
        break;
      default:
        this.#change(each);
    }
    this.line.serve();
    this.line.expire(this.bench.now);
    this.check();
  }

  /** No due job and nobody who wants it are left beside each other, and nobody waits after their time. */
  check(): void {
    const wrong = [...this.waiters].filter(
      ([, { command, deadline }]) => deadline <= this.bench.now || this.due(command.wanted).length > 0,
    );
    expect(wrong).toEqual([]);
    expect(this.line.size).toBe(this.waiters.size);
  }

  #create(of: string, jobs: Extract<Step, { kind: "create" }>["jobs"]): void {
    const { now } = this.bench;
    const asked = jobs.map(({ delay, ...rest }): NewJob => ({ ...PLAIN, ...rest, firstRun: now + delay }));
    const { content } = this.bench.run({ verb: "CreateJobs", tenant: of, jobs: asked, single: false });
    const ids = content.kind === "ids" ? content.ids : [];
    expect(ids).toHaveLength(jobs.length);
    for (const [n, { name, priority, delay, mock }] of jobs.entries()) {
      const id = ids[n]!;
      this.jobs.set(id, { id, tenant: of, name, mock, priority, nextRun: now + delay, lease: null });
    }
  }

  #wait({ tenant: of, names, priority, mocked, limit, timeout }: Extract<Step, { kind: "wait" }>): void {
    const command: GetJobs = {
      verb: "GetJobs",
      wanted: { tenant: of, names: parseNames(names), priority, mocked },
      limit,
      single: limit === 1,
      caller: { kind: "worker", worker: "w" },
      leaseMs: 3_600_000,
    };
    const n = ++this.#nextWaiter;
    const deadline = this.bench.now + timeout;
    let isAnswered = false;
    const answer = (given: ReturnType<Bench["run"]> | null): void => {
      expect(isAnswered).toBe(false);
      isAnswered = true;
      this.#answered(n, command, given);
    };
    this.waiters.set(n, { command, deadline, giveUp: () => giveUp() });
    const giveUp = this.line.add({ command, answer }, deadline);
  }

  /** In the order in which they are answered: each gets the best that nobody has, and nobody who came first is passed over. */
  #answered(n: number, command: GetJobs, given: ReturnType<Bench["run"]> | null): void {
    const best = this.due(command.wanted);
    const before = [...this.waiters].filter(([other]) => other < n);
    this.waiters.delete(n);
    if (given?.content.kind !== "taken") {
      // Null: the term is over.
      expect([404, undefined]).toContain(given?.status.code);
      return;
    }
    const { jobs } = given.content;
    expect(jobs.map(({ view }) => view.jobID)).toEqual(best.slice(0, command.limit).map(({ id }) => id));
    expect(before.filter(([, other]) => sameWish(other.command, command))).toEqual([]);
    for (const { view, token } of jobs) this.jobs.get(view.jobID)!.lease = token;
  }

  #change(each: Extract<Step, { nth: number }>): void {
    const isForHolder = each.kind === "retry" || each.kind === "requeue";
    const known = [...this.jobs].filter(([, { lease }]) => (lease !== null) === isForHolder);
    const found = this.#nth(new Map(known), each.nth);
    if (found === null) return;
    const ask = (verb: string, params: object): void => {
      const fields = Object.fromEntries(Object.entries(params).map(([key, value]) => [key, String(value)]));
      const command = readCommand(verb, { jobID: String(found.id), ...fields }, WHO(found.tenant));
      if (isStatus(command)) throw new Error(command.text);
      expect(this.bench.run(command).status.code).toBe(200);
    };
    if (each.kind === "retry") {
      ask("RetryJob", { lease: found.lease, delay: each.seconds });
      found.nextRun = this.bench.now + each.seconds * 1_000;
    } else if (each.kind === "requeue") ask("RequeueJobs", { jobIDs: `[${found.id}]` });
    else if (each.kind === "prefer") ask("UpdateJob", { data: "{}", jobPriority: each.priority });
    else if (each.kind === "delete") ask("DeleteJob", {});
    const after = this.bench.shard.job(found.id);
    if (after === null) this.jobs.delete(found.id);
    else Object.assign(found, { lease: null, priority: after.priority, nextRun: after.nextRun });
  }

  #nth<T>(map: ReadonlyMap<number, T>, nth: number): T | null {
    return [...map.values()][nth % Math.max(1, map.size)] ?? null;
  }
}

const WHO = (of: string) => ({ tenant: of, caller: { kind: "worker" as const, worker: "w" } });

const sameWish = (a: GetJobs, b: GetJobs): boolean =>
  a.wanted.tenant === b.wanted.tenant &&
  a.wanted.priority === b.wanted.priority &&
  a.wanted.mocked === b.wanted.mocked &&
  JSON.stringify(namesIn(a.wanted)) === JSON.stringify(namesIn(b.wanted));
const namesIn = ({ names }: Wanted): unknown => (names.kind === "glob" ? names.pattern : [...names.names]);

/** A failure prints the seed and the steps; `fc.assert(..., { seed, path })` runs it again. */
test("no job is left beside a caller who wants it, whatever comes, goes, falls due or is cancelled in between", () => {
  fc.assert(
    fc.property(fc.array(step, { minLength: 10, maxLength: 60, size: "max" }), (steps) => {
      const scene = new Scene();
      for (const each of steps) scene.do(each);
      scene.line.close();
      expect(scene.waiters.size).toBe(0);
    }),
    { numRuns: 100 },
  );
});

test("two who wait get both jobs of one CreateJobs, the more urgent one first", () => {
  const scene = new Scene();
  const wait = { kind: "wait", tenant: "default", names: "mail", priority: null, mocked: false, limit: 1 } as const;
  for (let n = 0; n < 2; n++) scene.do({ ...wait, timeout: 100_000 });
  const of = (priority: 0 | 1000) => ({ name: "mail", priority, delay: 0, mock: false }) as const;
  scene.do({ kind: "create", tenant: "default", jobs: [of(0), of(1000)] });
  expect(scene.waiters.size).toBe(0);
  expect([...scene.jobs.values()].every(({ lease }) => lease !== null)).toBe(true);
  expect(scene.left).toBe(0);
});
