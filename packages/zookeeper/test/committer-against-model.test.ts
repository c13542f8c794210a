import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { makeCommitter, type Move, type Op, type Session } from "../src/index.ts";
import { text, useZooKeeper } from "./support/bundle.ts";

const zk = useZooKeeper();
const COUNTERS = 4;

/**
 * A move of job j creates its own node; it may also count up a counter at a guessed version, check one, carry a shared
 * check, or be bad in itself.
 */
interface Plan {
  readonly tick: number;
  readonly bad: boolean;
  readonly counter: { readonly index: number; readonly guess: number } | null;
  readonly checked: { readonly index: number; readonly guess: number } | null;
  readonly sharedGuess: number | null;
  readonly rank: Move["rank"];
}

const guess = fc.record({ index: fc.nat(COUNTERS - 1), guess: fc.nat(2) });
const plan: fc.Arbitrary<Plan> = fc.record({
  tick: fc.nat(3),
  bad: fc.boolean(),
  counter: fc.option(guess),
  checked: fc.option(guess),
  sharedGuess: fc.option(fc.nat(1)),
  rank: fc.constantFrom("operator", "commit", "claim"),
});

function toMove(each: Plan, job: number): Move {
  const ops: Op[] = [{ op: "create", path: `/jobs/${job}`, data: text("") }];
  if (each.counter !== null) {
    ops.push({ op: "set", path: `/counters/${each.counter.index}`, data: text(`${job}`), version: each.counter.guess });
  }
  if (each.checked !== null) {
    ops.push({ op: "check", path: `/counters/${each.checked.index}`, version: each.checked.guess });
  }
  if (each.bad) ops.push({ op: "delete", path: "/never", version: 0 });
  if (each.sharedGuess === null) return { rank: each.rank, ops };
  return { rank: each.rank, ops, shared: [{ op: "check", path: "/gate", version: each.sharedGuess }] };
}

async function plant(session: Session): Promise<void> {
  const empty = ["/jobs", "/counters", "/gate", ...Array.from({ length: COUNTERS }, (_, i) => `/counters/${i}`)];
  await session.multi(empty.map((path) => ({ op: "create", path, data: text("") })));
}

/** Every op that failed must fail in some order of the moves: here, in the order of their transactions. */
describe("moves good and bad, joined at random over a real ZooKeeper", () => {
  test("come out as if each had been sent alone, in the order of the answers' zxids", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(plan, { minLength: 1, maxLength: 60 }), async (plans) => {
        const session = await zk.session({ timeoutMs: 20_000 });
        await plant(session);
        const committer = makeCommitter(session);
        const answers = await submitInTicks(plans, (each, job) => committer.submit(toMove(each, job)));

        // A move that only bad ones compete with is applied; a bad one is refused for its own fault.
        plans.forEach((each, job) => {
          const answer = answers[job]!;
          if (mustSucceed(each, plans)) expect(answer.ok).toBe(true);
          if (each.bad || each.sharedGuess === 1) expect(answer.ok).toBe(false);
          if (!answer.ok) expect(blamed(toMove(each, job), answer.index)).toBe(answer.code);
        });

        // Applied moves, in the order in which they were: each found the versions that it named.
        const versions = Array<number>(COUNTERS).fill(0);
        const applied = plans
          .map((each, job) => ({ each, answer: answers[job]! }))
          .flatMap(({ each, answer }) => (answer.ok ? [{ each, zxid: answer.zxid }] : []))
          .sort((a, b) => Number(a.zxid - b.zxid));
        for (const { each } of applied) {
          if (each.counter !== null) expect(versions[each.counter.index]!++).toBe(each.counter.guess);
          if (each.checked !== null) expect(versions[each.checked.index]).toBe(each.checked.guess);
        }

        // The tree is what the answers say.
        const jobs = await session.children("/jobs");
        const done = answers.flatMap((answer, job) => (answer.ok ? [String(job)] : []));
        expect(jobs.ok && [...jobs.value.names].sort()).toEqual(done.sort());
        for (const [index, version] of versions.entries()) {
          expect(await session.exists(`/counters/${index}`)).toMatchObject({ value: { version } });
        }
        await session.close();
      }),
      { numRuns: 40 },
    );
  });
});

/** Bad plans change nothing, so a plan that finds every version it names unless another good one comes first is safe. */
function mustSucceed(each: Plan, plans: readonly Plan[]): boolean {
  if (each.bad || each.sharedGuess === 1) return false;
  const writers = (index: number): Plan[] => plans.filter((other) => !other.bad && other.counter?.index === index);
  const { counter, checked } = each;
  const counts = counter === null || (counter.guess === 0 && writers(counter.index).length === 1);
  return counts && (checked === null || (checked.guess === 0 && writers(checked.index).length === 0));
}

/** Plans of one tick are submitted together; each tick begins when the first answer of the one before is there. */
async function submitInTicks<T>(plans: readonly Plan[], submit: (each: Plan, job: number) => Promise<T>): Promise<T[]> {
  const answers = new Map<number, Promise<T>>();
  for (let tick = 0; tick <= 3; tick++) {
    const now = plans.flatMap((each, job) => (each.tick === tick ? [{ each, job }] : []));
    for (const { each, job } of now) answers.set(job, submit(each, job));
    if (now.length > 0) await Promise.race(now.map(({ job }) => answers.get(job)!));
  }
  return Promise.all(plans.map((_, job) => answers.get(job)!));
}

function blamed(move: Move, index: number): string {
  const op = [...(move.shared ?? []), ...move.ops][index];
  return op?.op === "delete" ? "NO_NODE" : "BAD_VERSION";
}
