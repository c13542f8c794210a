/** Jobs of two collections for one ARK: whoever is there first has the object, whatever comes between. */
import { mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "@jest/globals";
import { locate } from "../src/store/ocfl/layout.ts";
import type { ProfileSource } from "../src/parts.ts";
import { type Attempt, type Deposit, Laboratory, OWNER, profilesOf, realInventory } from "./support/deposit.ts";
import { inventoryV1, write, writeInventory } from "./support/hand-made-object.ts";
import { validateRoot } from "./support/ocfl-validator/root-rules.ts";
import { changesOf, storedVersion } from "./support/stored-version.ts";

const ARK = "ark:/99999/fk4contested";
const MISMATCH = { kind: "fail", code: "COLLECTION_MISMATCH" };
const COLLECTIONS = { ann: "ark:/99999/fk4ann", eve: "ark:/99999/fk4eve" };

const profile = (who: keyof typeof COLLECTIONS, ...lines: readonly string[]): string =>
  [
    `ProfileID: ${who}_content`,
    "Type: MRT-curatorial",
    "Role: MRT-content",
    `Owner: ${OWNER}`,
    `Collection.1: ${COLLECTIONS[who]}`,
    ...lines,
    "",
  ].join("\n");

const PROFILES = profilesOf(profile("ann"), profile("eve"));

const deposit = (who: keyof typeof COLLECTIONS, number: number): Deposit => ({
  files: { "hello.txt": `by ${who}` },
  identifiers: { primary_id: ARK },
  configuration: { profile_name: `${who}_content` },
  number,
});

const membershipOf = (attempt: Attempt): string => storedVersion(attempt).text("system/mrt-membership.txt");

/** The steps of a job that is alone. */
async function rehearsedSteps(): Promise<readonly string[]> {
  const laboratory = await Laboratory.open({ profiles: PROFILES });
  expect(await laboratory.job(deposit("ann", 1)).run()).toMatchObject({ kind: "done" });
  return [...laboratory.steps];
}

describe("two jobs of different collections for one new ARK", () => {
  test("of which one comes at any step of the other: one has the object, the other is refused", async () => {
    const steps = await rehearsedSteps();
    expect(steps).toEqual(expect.arrayContaining(["beforeEffect", "storeBegun", "storeStaged", "midEffect"]));
    for (const [index, step] of steps.entries()) {
      // No lock keeps them apart: one of them has lost its session, and does not know it yet.
      const laboratory = await Laboratory.open({ profiles: PROFILES });
      const [ann, eve] = [laboratory.job(deposit("ann", 1)), laboratory.job(deposit("eve", 2))];
      let count = 0;
      const meanwhile: Attempt[] = [];
      laboratory.onStep = async () => {
        if ((count += 1) === index + 1) meanwhile.push(await eve.run());
      };
      const first = await ann.run();
      laboratory.onStep = () => Promise.resolve();
      const ended = [first.kind === "retry" ? await ann.run() : first, ...meanwhile];
      expect([step, ended.map(({ kind }) => kind).sort()]).toEqual([step, ["done", "fail"]]);
      expect(ended.find(({ kind }) => kind === "fail")).toMatchObject(MISMATCH);
      const [winner, loser] = ended[0]?.kind === "done" ? [ann, eve] : [eve, ann];
      expect(membershipOf(await winner.run())).toBe(`${COLLECTIONS[winner === ann ? "ann" : "eve"]}\n`);
      expect(await loser.run()).toMatchObject(MISMATCH);
      expect(validateRoot(laboratory.store)).toMatchObject({ errors: [], warnings: [] });
    }
  });

  test("really at once: one has the object, the other is refused", async () => {
    for (let round = 0; round < 10; round += 1) {
      const laboratory = await Laboratory.open({ profiles: PROFILES });
      const jobs = [laboratory.job(deposit("ann", 1)), laboratory.job(deposit("eve", 2))];
      await Promise.all(jobs.map((job) => job.run()));
      const ended = [await jobs[0]!.run(), await jobs[1]!.run()];
      expect(ended.map(({ kind }) => kind).sort()).toEqual(["done", "fail"]);
      expect(ended.find(({ kind }) => kind === "fail")).toMatchObject(MISMATCH);
      expect(changesOf(ended.find(({ kind }) => kind === "done")!).inventory?.manifest_url).toMatch(/\/v1\//);
    }
  });
});

describe("a refused job", () => {
  test("is refused again when it is resumed, until its profile names the collection", async () => {
    let profiles: ProfileSource = PROFILES;
    const laboratory = await Laboratory.open({ profiles: { get: (name) => profiles.get(name) } });
    await laboratory.job(deposit("ann", 1)).run();
    const eve = laboratory.job(deposit("eve", 2));
    expect(await eve.run()).toMatchObject(MISMATCH);
    expect(await eve.run()).toMatchObject(MISMATCH);
    profiles = profilesOf(profile("ann"), profile("eve", `UpdatesCollection.1: ${COLLECTIONS.ann}`));
    const attempt = await eve.run();
    expect(membershipOf(attempt)).toBe(`${COLLECTIONS.ann}\n`);
    expect(changesOf(attempt).inventory).toMatchObject({ mode: "update" });
  });
});

describe("an object", () => {
  test("that says nothing about its owner, and has no record, is nobody's to change", async () => {
    const laboratory = await Laboratory.open({ profiles: PROFILES });
    const root = join(laboratory.store, locate(ARK).path);
    mkdirSync(dirname(root), { recursive: true });
    write(join(root, "0=ocfl_object_1.1"), "ocfl_object_1.1\n");
    write(join(root, "v1/content/a/one.txt"), "one");
    for (const folder of [root, join(root, "v1")]) writeInventory(folder, { ...inventoryV1(), id: ARK });
    expect(await laboratory.job(deposit("ann", 1)).run()).toMatchObject({
      ...MISMATCH,
      message: expect.stringContaining("record it first"),
    });
  });

  test("that has a record is judged by it while the store has nothing, as on another node", async () => {
    const localIds = await realInventory();
    const laboratory = await Laboratory.open({
      profiles: PROFILES,
      localIds: {
        ...localIds,
        belongingOf: () =>
          Promise.resolve({ kind: "found", value: { owner: OWNER, collections: [COLLECTIONS.ann] } } as const),
      },
    });
    expect(await laboratory.job(deposit("eve", 1)).run()).toMatchObject(MISMATCH);
    expect(validateRoot(laboratory.store).objects.size).toBe(0);
    expect(await laboratory.job(deposit("ann", 2)).run()).toMatchObject({ kind: "done" });
  });

  test("gets the collections that its own profile adds, and keeps those that it has", async () => {
    let profiles: ProfileSource = profilesOf(profile("ann", `Collection.2: ${COLLECTIONS.eve}`));
    const laboratory = await Laboratory.open({ profiles: { get: (name) => profiles.get(name) } });
    expect(membershipOf(await laboratory.job(deposit("ann", 1)).run())).toBe(
      `${COLLECTIONS.ann}\n${COLLECTIONS.eve}\n`,
    );
    profiles = profilesOf(profile("ann", "Collection.2: ark:/99999/fk4third"));
    const again = laboratory.job(deposit("ann", 2));
    const first = await again.run();
    expect(membershipOf(first)).toBe(`${COLLECTIONS.ann}\n${COLLECTIONS.eve}\nark:/99999/fk4third\n`);
    expect(await again.run()).toEqual(first);
  });

  test("is not asked about while the inventory is away: the job sleeps", async () => {
    const localIds = await realInventory();
    const away = { kind: "unavailable", message: "ECONNREFUSED" } as const;
    const laboratory = await Laboratory.open({
      profiles: PROFILES,
      localIds: { ...localIds, belongingOf: () => Promise.resolve(away) },
    });
    expect(await laboratory.job(deposit("ann", 1)).run()).toMatchObject({
      kind: "snooze",
      why: expect.stringContaining("ECONNREFUSED"),
    });
  });
});
