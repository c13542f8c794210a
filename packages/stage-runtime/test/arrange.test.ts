import { jobId, jobNumber, type QueueEntry } from "@sluice/queue-core";
import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { arrange as tiers } from "../src/jobs/arrange.ts";
import { Waits } from "../src/jobs/waits.ts";

const entry = (priority: number, number: number): QueueEntry => ({ priority, id: jobId(number) });
const numbers = (entries: readonly QueueEntry[]): number[] => entries.map(({ id }) => jobNumber(id));
const among = (list: readonly number[]) => (each: QueueEntry) => list.includes(jobNumber(each.id));
const nobody = (): boolean => false;

/** The arrangement, told by entries. */
type View = Readonly<Record<"isOwn" | "isLeftOver" | "isOverdue", (entry: QueueEntry) => boolean>> & {
  readonly random: () => number;
};

function arrange(queue: readonly QueueEntry[], how: View): readonly QueueEntry[] {
  const sorted = { length: queue.length, priorityAt: (at: number) => queue[at]!.priority };
  const arranged = tiers(sorted, {
    isOwn: (at) => how.isOwn(queue[at]!),
    isLeftOver: (at) => how.isLeftOver(queue[at]!),
    isOverdue: (at) => how.isOverdue(queue[at]!),
    random: how.random,
  });
  return arranged.flatMap(({ items }) => items.map((at) => queue[at]!));
}

const view = (patch: Partial<View>): View => ({
  isOwn: nobody,
  isLeftOver: nobody,
  isOverdue: nobody,
  random: () => 0,
  ...patch,
});

describe("the order in which a worker looks at a queue", () => {
  test("is its own part by priority; what others have just got is theirs", () => {
    const queue = [entry(0, 1), entry(5, 2), entry(5, 3), entry(9, 4)];
    expect(numbers(arrange(queue, view({ isOwn: among([2, 4]) })))).toEqual([2, 4]);
  });

  test("puts what others left over where its priority and its age belong", () => {
    const queue = [entry(0, 1), entry(5, 2), entry(5, 3), entry(5, 4), entry(9, 5)];
    const arranged = arrange(queue, view({ isOwn: among([3, 5]), isLeftOver: among([1, 2, 4]) }));
    expect(numbers(arranged)).toEqual([1, 2, 3, 4, 5]);
  });

  test("takes one left-over of eight at equal priority, however many of its own follow", () => {
    const queue = Array.from({ length: 40 }, (_, i) => entry(5, i));
    const isOwn = ({ id }: QueueEntry): boolean => jobNumber(id) >= 20;
    const arranged = numbers(arrange(queue, view({ isOwn, isLeftOver: () => true })));
    expect([arranged[0], arranged[8], arranged[16]]).toEqual([0, 1, 2]);
    expect(arranged.filter((number) => number >= 20)).toEqual(queue.slice(20).map(({ id }) => jobNumber(id)));
    expect(arranged).toHaveLength(40);
  });

  test("puts what is overdue first, whatever its priority and whosever it is", () => {
    const queue = [entry(0, 1), entry(50, 2), entry(99, 3)];
    expect(numbers(arrange(queue, view({ isOwn: among([1, 2]), isOverdue: among([3]) })))).toEqual([3, 1, 2]);
  });

  test("leaves out only what others have just got, and doubles nothing", () => {
    const which = fc.array(fc.nat({ max: 60 }));
    fc.assert(
      fc.property(
        fc.array(fc.nat({ max: 99 }), { maxLength: 60 }),
        which,
        which,
        which,
        (priorities, own, left, due) => {
          const queue = priorities.sort((a, b) => a - b).map((priority, i) => entry(priority, i));
          const arranged = arrange(
            queue,
            view({ isOwn: among(own), isLeftOver: among(left), isOverdue: among(due), random: Math.random }),
          );
          const open = queue.filter((each) => [own, left, due].some((list) => among(list)(each)));
          expect(numbers(arranged).sort((a, b) => a - b)).toEqual(numbers(open));
          const ours = arranged.filter((each) => among(own)(each) && !among(due)(each));
          expect(ours).toEqual(queue.filter((each) => among(own)(each) && !among(due)(each)));
        },
      ),
    );
  });
});

describe("a wait", () => {
  test("keeps a job from being looked at until it is over", () => {
    const waits = new Waits();
    waits.note(entry(5, 1), 1_500, 1_000);
    expect([waits.waits(jobId(1), 1_499), waits.nextAtMs(), waits.waits(jobId(1), 1_500)]).toEqual([
      true,
      1_500,
      false,
    ]);
    waits.keepOnly(() => true, 1_500);
    expect(waits.nextAtMs()).toBeNull();
  });

  test("is trusted for half a minute at most, for an operator may shorten it", () => {
    const waits = new Waits();
    waits.note(entry(5, 1), 1_000_000, 0);
    expect(waits.nextAtMs()).toBe(30_000);
  });

  test("is forgotten with its job", () => {
    const waits = new Waits();
    waits.note(entry(5, 1), 500, 0);
    waits.keepOnly(({ id }) => id === jobId(2), 0);
    expect(waits.nextAtMs()).toBeNull();
  });
});
