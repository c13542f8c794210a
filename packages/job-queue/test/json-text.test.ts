import { expect, test } from "@jest/globals";
import fc from "fast-check";
import { hasLargeNumbers, isSameJson, itemsOf, membersOf, mergedText, printMembers } from "../src/json-text.ts";

const print = fc.constantFrom<(value: unknown) => string>(
  (value) => JSON.stringify(value),
  (value) => JSON.stringify(value, null, 3),
);
/** Keys that mean something to the language, and texts with everything in them that ends a member. */
const text = fc.oneof(fc.string(), fc.constantFrom("__proto__", '"},{"', "\\", '\\"', ",", ":", "[", "}"));
const json = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: "small" },
    text,
    fc.integer(),
    fc.boolean(),
    fc.constant(null),
    tie("list"),
    tie("object"),
  ),
  list: fc.array(tie("value"), { maxLength: 4 }),
  object: fc.dictionary(text, tie("value"), { maxKeys: 4 }),
}));
/** As a reader of JSON has it: a key that is "__proto__" is a key. */
const plain = (value: string): unknown => JSON.parse(value);

test("members and items are those of the text, whatever stands in them", () => {
  fc.assert(
    fc.property(json.object, json.list, print, (object, list, as) => {
      const members = membersOf(as(object));
      expect(plain(printMembers(members))).toEqual(plain(JSON.stringify(object)));
      expect(itemsOf(as(list)).map(plain)).toEqual(plain(JSON.stringify(list)));
    }),
  );
});

/** RFC 7396 in its own words. */
function merge(target: unknown, patch: unknown): unknown {
  if (typeof patch !== "object" || patch === null || Array.isArray(patch)) return patch;
  const isObject = typeof target === "object" && target !== null && !Array.isArray(target);
  const merged = new Map<string, unknown>(isObject ? Object.entries(target) : []);
  for (const [key, value] of Object.entries(patch))
    if (value === null) merged.delete(key);
    else merged.set(key, merge(merged.get(key), value));
  return Object.fromEntries(merged);
}

test("texts are merged as their values are", () => {
  fc.assert(
    fc.property(json.object, json.object, print, (target, patch, as) => {
      const [old, change] = [as(target), as(patch)];
      expect(plain(mergedText(old, change))).toEqual(merge(plain(old), plain(change)));
      expect(isSameJson(old, JSON.stringify(plain(old)))).toBe(true);
    }),
  );
});

test("numbers that JavaScript cannot hold stay as they were written, and are told apart", () => {
  expect(mergedText('{"a":9007199254740993,"b":{"c":1.10}}', '{"d":18446744073709551615}')).toBe(
    '{"a":9007199254740993,"b":{"c":1.10},"d":18446744073709551615}',
  );
  expect(isSameJson('{"a":9007199254740993}', '{"a":9007199254740992}')).toBe(false);
  expect(
    ['{"a":9007199254740993}', '{"a":[1e400000000000]}', '{"a":0.12345678901234567}'].map(hasLargeNumbers),
  ).toEqual([true, true, true]);
  expect(['{"a":1795036597123}', '{"a":"9007199254740993"}', '{"a":1.10}'].some(hasLargeNumbers)).toBe(false);
  expect(isSameJson('{"a":1.10, "b":"9007199254740993"}', '{"a":1.1,"b":"9007199254740993"}')).toBe(true);
});
