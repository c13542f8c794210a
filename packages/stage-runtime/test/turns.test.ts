import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import type { TierOf } from "../src/jobs/tier.ts";
import { LastTurns, Turns } from "../src/jobs/turns.ts";

/** `a1`: the first job of collection a. */
const collectionOf = (item: string): string => item.charAt(0);
const many = (collection: string, count: number): string[] =>
  Array.from({ length: count }, (_, at) => `${collection}${at + 1}`);
const tier = (...items: readonly string[]): TierOf<string> => ({ items, takesTurns: true });
const always = (): boolean => true;

interface Known {
  readonly known?: (item: string) => string | undefined;
  readonly inHand?: Readonly<Record<string, number>>;
}
const turnsOf = (tiers: readonly TierOf<string>[], { known = collectionOf, inHand = {} }: Known = {}) =>
  new Turns(tiers, { collectionOf: known, inHand: (collection) => inHand[collection] ?? 0 }, new LastTurns());

describe("within a tier", () => {
  test("collections take turns, and each keeps its order", () => {
    const turns = turnsOf([tier(...many("a", 5), ...many("b", 2), "c1")]);
    expect(turns.take(8, always)).toEqual(["a1", "b1", "c1", "a2", "b2", "a3", "a4", "a5"]);
  });

  test("whoever has less in hand is next, however long the others have waited", () => {
    const turns = turnsOf([tier(...many("a", 5), ...many("b", 5))], { inHand: { a: 2 } });
    expect(turns.take(6, always)).toEqual(["b1", "b2", "a1", "b3", "a2", "b4"]);
  });

  test("turns go on where the last window ended", () => {
    const turns = turnsOf([tier(...many("a", 3), ...many("b", 3))]);
    expect([1, 2, 3, 4].flatMap(() => turns.take(1, always))).toEqual(["a1", "b1", "a2", "b2"]);
  });

  test("what is not known yet is taken for what stands before it, and is in its place once it is known", () => {
    const known = new Set(["a1", "a3", "b1"]);
    const turns = turnsOf([tier("a1", "a2", "a3", "b1", "b2")], {
      known: (item) => (known.has(item) ? collectionOf(item) : undefined),
    });
    expect(turns.take(2, always)).toEqual(["a1", "b1"]);
    expect(turns.unknown(9)).toEqual(["a2", "b2"]);
    known.add("a2");
    turns.learned();
    expect(turns.take(9, always)).toEqual(["a2", "b2", "a3"]);
  });

  test("one of another collection is found in the midst of thousands, and does not turn their order round", () => {
    const items = [...many("a", 6_000), ...many("b", 100), ...many("a", 12_000).slice(6_000)];
    const known = new Set<string>();
    const turns = turnsOf([tier(...items)], {
      known: (item) => (known.has(item) ? collectionOf(item) : undefined),
    });
    for (let i = 0; i < 4; i++) {
      for (const item of turns.unknown(500)) known.add(item);
      turns.learned();
    }
    expect(known.size).toBeLessThanOrEqual(2_000);
    const taken = turns.take(3_000, always);
    expect(taken.findIndex((item) => item.startsWith("b"))).toBe(1);
    const others = taken.filter((item) => item.startsWith("a"));
    expect(others).toEqual(many("a", others.length));
  });
});

test("a tier comes before the next one, whoever waits there", () => {
  const turns = turnsOf([tier(...many("a", 3)), tier("b1")], { inHand: { a: 100 } });
  expect(turns.take(9, always)).toEqual(["a1", "a2", "a3", "b1"]);
});

test("others than one collection are found, also behind what was put back", () => {
  const turns = turnsOf([tier(...many("a", 3)), { items: ["b1"], takesTurns: true }]);
  turns.putBack(turns.take(1, always));
  expect([turns.take(1, always, "a"), turns.take(1, always, "a"), turns.size]).toEqual([["b1"], [], 3]);
  expect(turns.take(9, always)).toEqual(["a1", "a2", "a3"]);
});

test("nothing is left out or doubled, and each collection's order is kept, whatever is known", () => {
  const names = fc.array(fc.constantFrom("a", "b", "c"), { maxLength: 40 });
  fc.assert(
    fc.property(names, fc.array(fc.nat(39)), fc.integer({ min: 1, max: 7 }), (collections, unknown, window) => {
      const items = collections.map((name, at) => `${name}${at}`);
      const hidden = new Set(unknown.map((at) => items[at]));
      const turns = turnsOf([tier(...items)], { known: (item) => (hidden.has(item) ? undefined : collectionOf(item)) });
      hidden.clear();
      turns.learned();
      const taken: string[] = [];
      while (turns.size > 0) taken.push(...turns.take(window, always));
      expect([...taken].sort()).toEqual([...items].sort());
      for (const name of ["a", "b", "c"])
        expect(taken.filter((item) => item.startsWith(name))).toEqual(items.filter((item) => item.startsWith(name)));
    }),
  );
});
