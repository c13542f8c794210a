/** Whose turn it is among very many types: what is looked at does not grow with what waits. */
import { expect, test } from "@jest/globals";
import { ReadyIndex, type TurnsAsked, type WaitingType } from "../src/memory/ready-index.ts";
import type { Slot } from "../src/memory/slots.ts";

const NOW = 1_000_000;

class Types {
  readonly index = new ReadyIndex();
  looked = 0;
  #id = 0;

  add(name: string, over: Partial<Slot> = {}): Slot {
    const id = ++this.#id;
    const slot: Slot = {
      at: -1,
      heap: null,
      id,
      tenant: "t",
      name,
      mock: false,
      priority: 500,
      nextRun: NOW - 100,
      ...over,
    };
    this.index.add(slot, NOW);
    return slot;
  }

  names(asked: Partial<TurnsAsked> = {}): readonly string[] {
    const isWanted = (type: WaitingType): boolean => {
      this.looked += 1;
      return asked.isWanted?.(type) ?? true;
    };
    return this.index.turns({ most: 1, agedBefore: 0, ...asked, isWanted }).map(({ name }) => name);
  }

  /** The first job of the type whose turn it is. */
  take(asked: Partial<TurnsAsked> = {}): string {
    const [name = ""] = this.names(asked);
    const best = this.index.best({
      tenant: "t",
      names: { kind: "names", names: new Set([name]) },
      priority: null,
      mocked: false,
    });
    if (best !== null) this.index.remove(best);
    return name;
  }
}

test("of 100,000 types as many are looked at as are taken", () => {
  const types = new Types();
  for (let n = 0; n < 100_000; n++) types.add(`type-${n}`);
  for (let round = 0; round < 10; round++) {
    expect(types.names({ most: 16 })).toHaveLength(16);
    types.take();
  }
  expect(types.looked).toBe(10 * 17);
});

test("every type has its turn before one has a second, also one that comes later", () => {
  const types = new Types();
  for (const name of ["a", "b", "c"]) for (let n = 0; n < 5; n++) types.add(name);
  const taken = [types.take(), types.take()];
  for (let n = 0; n < 5; n++) types.add("d");
  for (let n = 0; n < 6; n++) taken.push(types.take());
  expect(taken).toEqual(["a", "b", "c", "a", "b", "d", "c", "a"]);
});

test("a better job does not cost its type its turn, and one that is taken brings the next priority", () => {
  const types = new Types();
  types.add("a");
  types.add("b");
  types.add("a", { nextRun: NOW - 500 });
  expect(types.names({ most: 9 })).toEqual(["a", "b"]);
  types.add("c", { priority: 1_000 });
  types.add("c", { priority: 0 });
  expect(types.names({ most: 9 })).toEqual(["c", "a", "b"]);
  expect(types.take()).toBe("c");
  expect(types.names({ most: 9 })).toEqual(["a", "b", "c"]);
});

test("what has been due for long goes first, whatever its priority, and comes once", () => {
  const types = new Types();
  types.add("urgent", { priority: 1_000 });
  types.add("old", { priority: 0, nextRun: 10 });
  types.add("older", { priority: 0, nextRun: 5 });
  const names = types.names({ most: 9, agedBefore: 20 });
  expect([names.slice(0, 2).toSorted(), names.slice(2)]).toEqual([["old", "older"], ["urgent"]]);
  expect(types.names({ most: 9 })).toEqual(["urgent", "old", "older"]);
});

test("what is not wanted is passed by; mocked and future jobs are no types that wait; what has gone is forgotten", () => {
  const types = new Types();
  const gone = types.add("gone");
  types.add("a");
  types.add("b", { tenant: "other" });
  types.add("mocked", { mock: true });
  types.add("later", { nextRun: NOW + 1 });
  types.index.remove(gone);
  expect(types.names({ most: 1, isWanted: ({ name }) => name !== "a" })).toEqual(["b"]);
  expect(types.names({ most: 9 })).toEqual(["a", "b"]);
  expect(types.index.waitingTypes().map(({ name }) => name)).toEqual(["a", "b"]);
});
