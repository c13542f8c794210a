import { describe, expect, test } from "@jest/globals";
import { type Belonging, collectionsOfNext, mayChange, type Writer } from "../src/index.ts";

const [OWNER, OWN, SECOND, OTHER] = ["ark:/1/owner", "ark:/1/own", "ark:/1/second", "ark:/1/other"];
const writer: Writer = { owner: OWNER, collections: [OWN, SECOND], updatesCollections: [] };
const object = (...collections: string[]): Belonging => ({ owner: OWNER, collections });

describe("a profile may change", () => {
  test.each<[boolean, string, Writer, Belonging]>([
    [true, "an object of its first collection", writer, object(OTHER, OWN)],
    [false, "an object of its second collection alone", writer, object(SECOND)],
    [false, "an object of another collection", writer, object(OTHER)],
    [false, "an object of no collection", writer, object()],
    [
      false,
      "another owner's object, although the collection is its own",
      { ...writer, owner: "ark:/1/x" },
      object(OWN),
    ],
    [
      true,
      "an object of a collection that it names for updates",
      { ...writer, updatesCollections: [OTHER] },
      object(OTHER),
    ],
    [false, "nothing, if it has no collection", { ...writer, collections: [] }, object(OWN)],
  ])("%s: %s", (allowed, _what, profile, belongs) => {
    expect(mayChange(profile, belongs)).toBe(allowed);
  });
});

describe("the next version of an object", () => {
  test.each<[string, Belonging | null, readonly string[]]>([
    ["is in the profile's collections if it is the first", null, [OWN, SECOND]],
    ["keeps those it has, and gets the profile's", object(OTHER, OWN), [OTHER, OWN, SECOND]],
    ["gets none of a profile that is not of its collections", object(OTHER), [OTHER]],
  ])("%s", (_what, belongs, collections) => {
    expect(collectionsOfNext(writer, belongs)).toEqual(collections);
  });
});
