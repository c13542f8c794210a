/** Whose objects are: no version of another owner or collection becomes one of theirs. Part of the suite of every database. */
import { describe, expect, test } from "@jest/globals";
import type { Inventory, RecordResult, StoredVersion } from "../src/index.ts";
import type { Bench } from "./conformance.ts";
import { aVersion, COLLECTION, OWNER } from "./version.ts";

const EVIL = "ark:/99999/fk4evil";
const THIRD = "ark:/99999/fk4third";
const RECORDED = { kind: "recorded" };
const FOREIGN = { kind: "foreign", message: expect.stringMatching(/^version 2 of \S+ was stored for another/) };

/** Deposited for a collection, with the collections that its membership file names. */
const versionOf = (
  number: number,
  collection: string,
  collections: readonly string[] = [collection],
  owner = OWNER,
): StoredVersion => {
  const version = aVersion({ number, owner, localIds: [`name of ${number}`], who: `Who of ${collection}` });
  return { ...version, collections, ingest: { ...version.ingest, collection } };
};

type Recording = readonly [Inventory, StoredVersion];

/** SQLite's writers block this process while they wait for each other: who met another one comes again when all have been there. */
async function recordAtOnce(...recordings: readonly Recording[]): Promise<RecordResult["kind"][]> {
  const tries = await Promise.all(recordings.map(([inventory, version]) => inventory.record(version)));
  const kinds: RecordResult["kind"][] = [];
  for (const [n, [inventory, version]] of recordings.entries()) {
    const { kind } = tries[n]!;
    kinds.push(kind === "unavailable" ? (await inventory.record(version)).kind : kind);
  }
  return kinds;
}

export function belongingConformance({ inventory, another, rows }: Bench): void {
  const linked = () =>
    rows("select ark from inv_collections c join inv_collections_inv_objects l on l.inv_collection_id = c.id");
  const described = () => rows("select version_number, erc_who from inv_objects");

  describe("an object's owner and collections", () => {
    test("are told, in the order in which they came; of an object that is not recorded nothing is", async () => {
      const { ark } = versionOf(1, COLLECTION);
      expect(await inventory().belongingOf(ark)).toEqual({ kind: "none" });
      await inventory().record(versionOf(1, COLLECTION));
      await inventory().record(versionOf(2, COLLECTION, [THIRD, COLLECTION]));
      const value = { owner: OWNER, collections: [COLLECTION, THIRD] };
      expect(await inventory().belongingOf(ark)).toEqual({ kind: "found", value });
    });

    test.each<[string, StoredVersion]>([
      ["another collection", versionOf(2, EVIL)],
      ["another owner", versionOf(2, COLLECTION, [COLLECTION], "ark:/99999/fk4stranger")],
      ["another collection, and names the object's too", versionOf(2, EVIL, [EVIL, COLLECTION])],
      ["no collection", versionOf(2, EVIL, [])],
      ["further collections that the object has not", versionOf(2, EVIL, [THIRD])],
    ])("stay as they are when a version is of %s: it is refused, and nothing changes", async (_what, version) => {
      await inventory().record(versionOf(1, COLLECTION));
      expect(await inventory().record(version)).toEqual(FOREIGN);
      expect(await linked()).toEqual([{ ark: COLLECTION }]);
      expect(await described()).toEqual([{ version_number: 1, erc_who: `Who of ${COLLECTION}` }]);
      expect(await inventory().localIdsOf(version.owner, version.ark)).not.toMatchObject({ localIds: ["name of 2"] });
    });

    test.each<[string, StoredVersion]>([
      ["of the same collection", versionOf(2, COLLECTION)],
      ["that an older writer stored, without the collection it was deposited for", aVersion({ number: 2 })],
      ["of another collection that may update this one, and leaves itself out", versionOf(2, EVIL, [COLLECTION])],
    ])("allow a version %s", async (_what, version) => {
      await inventory().record(versionOf(1, COLLECTION));
      expect(await inventory().record(version)).toEqual(RECORDED);
      expect(await linked()).toEqual([{ ark: COLLECTION }]);
    });

    test("are those of the first that is recorded, when versions of two collections come at once", async () => {
      const peer = await another();
      const kinds = await recordAtOnce([inventory(), versionOf(1, COLLECTION)], [peer, versionOf(2, EVIL)]);
      expect(kinds.sort()).toEqual(["foreign", "recorded"]);
      expect(await linked()).toHaveLength(1);
    });
  });
}
