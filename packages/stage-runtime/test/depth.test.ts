/** What a list costs at depth, counted in work and not in time. */
import { afterEach, describe, expect, test } from "@jest/globals";
import { ownerOf, paths } from "@sluice/queue-core";
import type { Inbox } from "../src/duty.ts";
import { Partition } from "../src/engine/partition.ts";
import { SortedNames } from "../src/engine/sorted-names.ts";
import { consumed } from "../src/outcome.ts";
import { Waits } from "../src/jobs/waits.ts";
import { World } from "./support/world.ts";

const names = (count: number, from = 0): string[] =>
  Array.from({ length: count }, (_, n) => `50-jid${String(n + from).padStart(10, "0")}`);

describe("the part of a worker", () => {
  const workers = Array.from({ length: 20 }, (_, n) => `worker-${n}`);

  test("is found by hashing each item once, list after list, until the workers change", () => {
    let hashed = 0;
    const partition = new Partition("worker-3", (item, of) => {
      hashed += 1;
      return ownerOf(item, of);
    });
    const items = names(5_000);
    const ownOf = (list: readonly string[]): string[] => list.filter((item) => partition.isOwn(item));
    partition.among(workers);
    const own = ownOf(items);
    expect(own).toEqual(items.filter((item) => ownerOf(item, workers) === "worker-3"));
    partition.among([...workers]);
    const later = [...items.slice(100), ...names(100, 5_000)];
    ownOf(later);
    partition.keepOnly(new Set(later));
    expect(hashed).toBe(5_100);
    partition.among(workers.slice(1));
    ownOf(later);
    expect(hashed).toBe(10_100);
  });

  test("is everything for one that is alone", () => {
    const partition = new Partition("a", () => {
      throw new Error("nothing is hashed");
    });
    partition.among(["a"]);
    expect(partition.isOwn("x")).toBe(true);
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
  waits.note("jid0000000001" as never, 5_000, 0);
  waits.note("jid0000000002" as never, 3_000, 0);
  expect(waits.nextAtMs()).toBe(3_000);
  waits.keepOnly(new Set(["jid0000000001" as never, "jid0000000002" as never]), 3_000);
  expect(waits.nextAtMs()).toBe(5_000);
  waits.keepOnly(new Set(), 3_000);
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
    const done = await recorder.until("item", 1_000, ({ outcome }) => outcome === "consumed");
    expect(new Set(done.map(({ item }) => item)).size).toBe(1_000);
    const lists = recorder.all("listed").filter(({ path }) => path === paths.callbacks);
    // The first list, and one or two when it was used up: the watch fires with every item that goes.
    expect(lists.length).toBeLessThan(20);
  });
});
