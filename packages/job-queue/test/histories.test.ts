/** Whole histories of random commands: what must hold in the tree holds after each, and a new owner knows the same. */
import { expect, test } from "@jest/globals";
import fc from "fast-check";
import { blockOf } from "../src/ids.ts";
import { isPending } from "../src/states.ts";
import { Bench } from "./support/bench.ts";

const NAMES = ["a", "b", "manual"];
/** One of the jobs that there are, or one that there never was. */
const id = fc.nat(20);
const step = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      verb: fc.constant("CreateJob"),
      name: fc.constantFrom(...NAMES),
      retryAfter: fc.constantFrom("", "", "+3 SECONDS"),
      unique: fc.constantFrom("", "true"),
      jobPriority: fc.constantFrom("0", "1000"),
      mockRequest: fc.constantFrom("", "", "true"),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      verb: fc.constant("CreateJob"),
      name: fc.constantFrom(...NAMES),
      parentJobID: id,
      repeat: fc.constantFrom("", "", "FINISHED, +2 SECONDS"),
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      verb: fc.constant("GetJobs"),
      name: fc.constantFrom("*", ...NAMES),
      numResults: fc.constantFrom("1", "4"),
      getMockedJobs: fc.constantFrom("", "1"),
    }),
  },
  {
    weight: 8,
    arbitrary: fc.record({
      verb: fc.constantFrom("FinishJob", "FinishJob", "RetryJob", "FailJob", "CancelJob", "DeleteJob"),
      jobID: id,
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      verb: fc.constant("RequeueJobs"),
      jobIDs: id,
      decrementFailures: fc.constantFrom("", "1"),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ verb: fc.constant("UpdateJob"), jobID: id, data: fc.constantFrom("{}", '{"x":1}') }),
  },
  { weight: 3, arbitrary: fc.record({ verb: fc.constant("pass"), ms: fc.constantFrom(500, 3_000, 10_000) }) },
  { weight: 1, arbitrary: fc.record({ verb: fc.constant("takeOver") }) },
  { weight: 2, arbitrary: fc.record({ verb: fc.constant("family"), children: fc.integer({ min: 1, max: 3 }) }) },
);

function check(bench: Bench): void {
  const problems: string[] = [];
  const tokens = new Set<string>();
  for (const [number, job] of bench.written) {
    const parent = job.parent === undefined ? null : (bench.written.get(job.parent) ?? null);
    if (job.parent !== undefined && parent === null) problems.push(`Q-12: ${number} has lost its parent`);
    if (parent?.parent !== undefined) problems.push(`Q-12: ${number} is a grandchild`);
    if (parent !== null && (job.gate ?? 0) > (parent.phase ?? 0) + 1) problems.push(`Q-13: gate of ${number}`);
    if (job.lease !== undefined && tokens.has(job.lease.token)) problems.push(`Q-07: ${job.lease.token} twice`);
    if (job.lease !== undefined) tokens.add(job.lease.token);
    if (!bench.blocks.has(blockOf(number))) problems.push(`Q-04: ${number} has no block`);
    const waitsAsParent = job.state === "PAUSED" && job.gate === undefined;
    const children = [...bench.written.values()].filter((other) => other.parent === number && isPending(other.state));
    if (waitsAsParent && children.length === 0) problems.push(`Q-11: ${number} waits for nobody`);
  }
  expect(problems).toEqual([]);
}

/** By chance alone a parent that waits for its children is rare. */
function makeFamily(bench: Bench, children: number): void {
  bench.create({ name: "parent" });
  const taken = bench.get("parent").view.jobID;
  for (let n = 0; n < children; n++) bench.create({ name: "a", parentJobID: taken });
  bench.ask("FinishJob", { jobID: taken });
}

function withIds(
  params: Readonly<Record<string, string | number>>,
  ids: readonly number[],
): Record<string, string | number> {
  const entries = Object.entries(params).map(([name, value]) => [
    name,
    typeof value === "number" ? ids[value % ids.length] : value,
  ]);
  return Object.fromEntries(entries) as Record<string, string | number>;
}

test("after any commands the tree is sound, and a new owner knows the same jobs in the same states", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const bench = new Bench();
      for (const each of steps) {
        if (each.verb === "pass" && "ms" in each) bench.pass(each.ms);
        else if (each.verb === "takeOver") bench.takeOver();
        else if (each.verb === "family" && "children" in each) makeFamily(bench, each.children);
        else {
          const { verb, ...params } = each;
          bench.ask(verb, withIds(params, [...bench.written.keys(), 999]));
        }
        check(bench);
      }
      bench.takeOver();
    }),
    { numRuns: 300 },
  );
});
