/** Whatever is asked of a shard, nothing that must be written together is more than ZooKeeper takes. No tree is needed for this. */
import { expect, test } from "@jest/globals";
import fc from "fast-check";
import { DATA_BYTES, NAME_BYTES, SCHEDULE_BYTES, TRANSACTION_BYTES_MAX, WORKER_BYTES } from "../src/limits.ts";
import { DoneIndex } from "../src/owner/done-index.ts";
import { sizeOf } from "../src/owner/pipeline.ts";
import { Writer } from "../src/owner/writer.ts";
import type { Unit } from "../src/shard/changes.ts";
import { Bench } from "./support/bench.ts";

/** A tenant writes as much as it may into every field. Quotes and control characters take more room as JSON. */
const LONG = {
  name: '"'.repeat(NAME_BYTES - 3),
  worker: '"'.repeat(WORKER_BYTES),
  repeat: `FINISHED${", +0 SECONDS".repeat(20)}`.slice(0, SCHEDULE_BYTES),
  onFinish: '"'.repeat(NAME_BYTES),
} as const;
const dataOf = (bytes: number): string => JSON.stringify({ x: "y".repeat(bytes) });

/** What a writer that has seen all of it before makes of it. */
function measured(): { readonly bench: Bench; readonly largest: () => number } {
  const term = { shard: 0, term: 1, ids: { next: 0, term: 1 }, idsVersion: 0 };
  const tree = { versions: new Map(), done: new DoneIndex(), guests: null, crashed: null };
  const writer = new Writer(term, { ...tree, loaded: undefined as never, counters: [], problems: [] });
  let largest = 0;
  const bench = new Bench({}, (units: readonly Unit[]) => {
    for (const unit of units) largest = Math.max(largest, sizeOf(writer.opsOf(unit)));
  });
  return { bench, largest: () => largest };
}

const bytes = fc.constantFrom(0, 500, 1_900, 3_000, 20_000, 55_000);
const result = fc.constantFrom("", "z".repeat(55_000), "\u0001".repeat(9_900), "\n".repeat(30_000));
const batch = fc.record({
  count: fc.constantFrom(1, 10, 60, 300, 500),
  unique: fc.boolean(),
  isContainer: fc.constantFrom(false, false, true),
  bytes,
  repeats: fc.boolean(),
});
type Batch = (typeof batch extends fc.Arbitrary<infer T> ? Omit<T, "count"> : never) & { readonly count: number };

function jobsOf({ count, unique, isContainer, bytes: each, repeats }: Batch): readonly object[] {
  // A request of 30 MB comes through no door.
  const most = Math.min(count, Math.ceil((4 * DATA_BYTES) / (each + 500)));
  return Array.from({ length: most }, (_, n) => ({
    name: isContainer ? "container" : `${LONG.name}${n % 300}`.slice(-NAME_BYTES),
    data: dataOf(each),
    unique,
    onFinish: LONG.onFinish,
    ...(repeats ? { repeat: LONG.repeat } : {}),
  }));
}

const step = fc.oneof(
  { weight: 3, arbitrary: fc.record({ kind: fc.constant("create" as const), batch }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant("take" as const), limit: fc.constantFrom(1, 50, 400) }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant("end" as const), bytes, result, then: batch }) },
  fc.record({ kind: fc.constantFrom("release" as const, "lapse" as const, "expire" as const, "requeue" as const) }),
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

class Tenant {
  readonly #bench: Bench;
  #held: (readonly [number, string])[] = [];

  constructor(bench: Bench) {
    this.#bench = bench;
  }

  do(each: Step): void {
    const bench = this.#bench;
    switch (each.kind) {
      case "create":
        bench.reply("CreateJobs", { jobs: JSON.stringify(jobsOf(each.batch)) });
        return;
      case "take": {
        const taken = bench.reply("GetJobs", { name: "*", numResults: each.limit }, "default", LONG.worker);
        if (taken.content.kind === "taken")
          this.#held.push(...taken.content.jobs.map(({ view, token }) => [view.jobID, token] as const));
        return;
      }
      case "end":
        for (const [jobID, lease] of this.#held.splice(0, 20)) {
          const end = { jobID, lease, result: each.result, data: dataOf(each.bytes) };
          const asked = {
            ...end,
            then: JSON.stringify(jobsOf({ ...each.then, count: Math.min(20, each.then.count) })),
          };
          const answer = bench.reply("FinishJob", asked);
          if (answer.status.code !== 200) bench.reply("FinishJob", end);
        }
        return;
      case "release":
        bench.run({ verb: "ReleaseWorker", worker: LONG.worker });
        return;
      case "lapse":
        for (let n = 0; n < 20; n++) bench.pass(11_000);
        return;
      case "expire":
        bench.run({ verb: "ExpireJobs", before: bench.now });
        return;
      case "requeue": {
        const ids = [...bench.shard.jobs()].map(([id]) => id);
        bench.run({
          ...{ verb: "RequeueJobs", tenant: "default", ids, name: null, decrementFailures: false, leases: null },
        });
      }
    }
  }
}

test("in a life of the largest fields nothing is more than one transaction takes", () => {
  fc.assert(
    fc.property(fc.array(step, { minLength: 4, maxLength: 14 }), (steps) => {
      const { bench, largest } = measured();
      const tenant = new Tenant(bench);
      for (const each of steps) tenant.do(each);
      expect(largest()).toBeLessThanOrEqual(TRANSACTION_BYTES_MAX);
    }),
    { seed: 20_261_118, numRuns: 15 },
  );
});

test("unique jobs that have run often are changed in parts", () => {
  const { bench, largest } = measured();
  const jobs = Array.from({ length: 300 }, (_, n) => ({
    name: `old-${n}`,
    unique: true,
    repeat: "FINISHED, +0 SECONDS",
  }));
  bench.reply("CreateJobs", { jobs: JSON.stringify(jobs) });
  for (let n = 0; n < 6; n++) {
    const taken = bench.reply("GetJobs", { name: "*", numResults: 300 }, "default", LONG.worker);
    const given = taken.content.kind === "taken" ? taken.content.jobs : [];
    expect(given).toHaveLength(300);
    for (const { view, token } of given) bench.reply("FinishJob", { jobID: view.jobID, lease: token });
    bench.pass(1_000);
  }
  const changed = jobs.map((job) => ({ ...job, data: { x: 1 } }));
  expect(bench.reply("CreateJobs", { jobs: JSON.stringify(changed) }).status.code).toBe(200);
  expect(largest()).toBeLessThanOrEqual(TRANSACTION_BYTES_MAX);
});
