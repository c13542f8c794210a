/** What a list costs at depth, counted in work and not in time. */
import { afterEach, describe, expect, test } from "@jest/globals";
import { jobId, ownerOfShare, paths, type QueueEntry, shareOf, SHARES, sortEntries } from "@sluice/queue-core";
import type { Inbox } from "../src/duty.ts";
import { Partition } from "../src/engine/partition.ts";
import { SortedNames } from "../src/engine/sorted-names.ts";
import { waitFor } from "@sluice/testkit";
import { consumed } from "../src/outcome.ts";
import { ListedQueue } from "../src/jobs/listed-queue.ts";
import { Waits } from "../src/jobs/waits.ts";
import { World } from "./support/world.ts";

const names = (count: number, from = 0): string[] =>
  Array.from({ length: count }, (_, n) => `50-jid${String(n + from).padStart(10, "0")}`);

describe("the part of a worker", () => {
  const workers = Array.from({ length: 20 }, (_, n) => `worker-${n}`);
  const ownOf = (partition: Partition, items: readonly string[]): string[] =>
    items.filter((item) => partition.isOwn(item));

  test("is worked out once for each share of the queue, until the workers change, however deep it is", () => {
    let asked = 0;
    const partition = new Partition("worker-3", (share, of) => {
      asked += 1;
      return ownerOfShare(share, of);
    });
    const items = names(20_000);
    partition.among(workers);
    const own = ownOf(partition, items);
    expect(own).toEqual(items.filter((item) => ownerOfShare(shareOf(item), workers) === "worker-3"));
    partition.among([...workers]);
    ownOf(partition, names(20_000, 20_000));
    expect(asked).toBeLessThanOrEqual(SHARES);
    const before = asked;
    partition.among(workers.slice(1));
    ownOf(partition, items);
    expect(asked).toBeGreaterThan(before);
  });

  test("is nearly as large as anybody else's, and stays when another comes", () => {
    const items = names(50_000);
    const owners = (of: readonly string[]): (string | null)[] => items.map((item) => ownerOfShare(shareOf(item), of));
    const [before, after] = [owners(workers), owners([...workers, "one more"])];
    for (const worker of workers) {
      const size = before.filter((owner) => owner === worker).length;
      expect(Math.abs(size - 2_500)).toBeLessThan(600);
    }
    expect(before.filter((owner, i) => owner !== after[i] && after[i] !== "one more")).toEqual([]);
  });

  test("is everything for one that is alone", () => {
    const partition = new Partition("a", () => {
      throw new Error("nothing is worked out");
    });
    partition.among(["a"]);
    expect(partition.isOwn("x")).toBe(true);
  });
});

describe("a listed queue", () => {
  const entriesOf = (queue: ListedQueue): QueueEntry[] => Array.from({ length: queue.length }, (_, at) => queue.at(at));

  test("is in the order of its names, and leaves out what is none of ours", () => {
    const queue = new ListedQueue();
    queue.update([...names(3), "07-jid0000000009", "50-jid000000000x", "5-jid0000000001", "50-bid0000000001", ""], 0);
    expect(entriesOf(queue)).toEqual(sortEntries([...names(3), "07-jid0000000009"]));
    expect(entriesOf(queue).map((entry) => queue.positionOf(entry))).toEqual([0, 1, 2, 3]);
    expect(queue.positionOf({ priority: 8, id: jobId(9) })).toBe(-1);
  });

  test("keeps what is known of its entries from list to list, whatever comes and goes", () => {
    let seed = 7;
    const random = (): number => (seed = (seed * 48_271) % 2_147_483_647) / 2_147_483_647;
    const queue = new ListedQueue();
    const known = new Map<string, { readonly fromMs: number; collection: string | undefined }>();
    let present: string[] = [];
    for (let round = 0; round < 200; round++) {
      present = present.filter(() => random() < 0.8);
      for (let n = 0; n < random() * 30; n++)
        present.push(`${Math.floor(10 + random() * 9)}-${jobId(Math.floor(random() * 2 ** 31))}`);
      present = [...new Set(present)].sort(() => random() - 0.5);
      queue.update(present, round);
      for (const name of known.keys()) if (!present.includes(name)) known.delete(name);
      for (const name of present) if (!known.has(name)) known.set(name, { fromMs: round, collection: undefined });
      const sorted = [...present].sort();
      expect(entriesOf(queue)).toEqual(sortEntries(present));
      for (const [at, name] of sorted.entries()) {
        const of = known.get(name)!;
        expect([queue.anybodysFromMs(at), queue.collectionAt(at)]).toEqual([of.fromMs, of.collection]);
        expect(queue.shareAt(at)).toBe(shareOf(queue.at(at).id));
        if (random() < 0.3) queue.learned(at, (of.collection = `c${Math.floor(random() * 5)}`));
      }
    }
  });
});

describe("names in order", () => {
  test("are those of a plain sort, whatever comes and goes", () => {
    let seed = 7;
    const random = (): number => (seed = (seed * 48_271) % 2_147_483_647) / 2_147_483_647;
    const order = new SortedNames((name) => (name.startsWith("x") ? null : name));
    let present: string[] = [];
    for (let round = 0; round < 200; round++) {
      present = present.filter(() => random() < 0.8);
      for (let n = 0; n < random() * 30; n++)
        present.push(`${random() < 0.1 ? "x" : "n"}${Math.floor(random() * 1e9)}`);
      present = [...new Set(present)].sort(() => random() - 0.5);
      expect(order.update(present)).toEqual([...present].sort().filter((name) => !name.startsWith("x")));
    }
  });

  test("are read once each, and the same list where nothing changed", () => {
    let read = 0;
    const order = new SortedNames((name) => {
      read += 1;
      return name;
    });
    const first = order.update(names(1_000));
    expect(order.update(names(1_000).reverse())).toBe(first);
    order.update(names(1_000, 1));
    expect(read).toBe(1_001);
  });
});

test("the first of many waits is known without looking at them", () => {
  const waits = new Waits();
  waits.note({ priority: 1, id: jobId(1) }, 5_000, 0);
  waits.note({ priority: 1, id: jobId(2) }, 3_000, 0);
  expect(waits.nextAtMs()).toBe(3_000);
  waits.keepOnly(() => true, 3_000);
  expect(waits.nextAtMs()).toBe(5_000);
  waits.keepOnly(() => false, 3_000);
  expect(waits.nextAtMs()).toBeNull();
});

describe("an inbox with a thousand items", () => {
  let world: World;
  afterEach(() => world.close());

  test("is listed a few times, not once for each item", async () => {
    world = await World.make();
    const items = names(1_000);
    await world.write(
      items.map((name) => ({ op: "create", path: `${paths.callbacks}/${name}`, data: Buffer.alloc(0) })),
    );
    const inbox: Inbox = {
      kind: "inbox",
      name: "depth",
      path: paths.callbacks,
      exclusive: false,
      handle: () => Promise.resolve(consumed),
    };
    const { recorder } = world.start("notifier", [inbox], { STAGE_CONCURRENCY: "4", POLL_INTERVAL_MS: "60000" });
    // One that is gone already may be in a list that was asked for before, and be consumed again.
    const done = (): number => new Set(recorder.all("item").map(({ item }) => item)).size;
    await waitFor(() => done() === items.length, { what: "all items", progress: done });
    const lists = recorder.all("listed").filter(({ path }) => path === paths.callbacks);
    // The first list, and one or two when it was used up: the watch fires with every item that goes.
    expect(lists.length).toBeLessThan(20);
  });
});
