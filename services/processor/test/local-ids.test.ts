import { describe, expect, test } from "@jest/globals";
import type { Inventory } from "@sluice/inventory";
import type { LocalIdIndex } from "../src/parts.ts";
import { type Deposit, Laboratory, OWNER, realInventory } from "./support/deposit.ts";
import { validateRoot } from "./support/ocfl-validator/root-rules.ts";
import { changesOf, storedVersion } from "./support/stored-version.ts";

const NAMED: Deposit = { files: { "hello.txt": "hello" }, identifiers: { local_id: ["shelf 7", "box 3"] } };
const KNOWN = "ark:/99999/fk4known";
const OTHER = "ark:/99999/fk4other";

const register = (inventory: LocalIdIndex, ark: string, ...localIds: readonly string[]) =>
  inventory.registerLocalIds({ ownerArk: OWNER, ark, localIds, created: "2026-01-01T00:00:00Z" });

async function withNames(names: Readonly<Record<string, readonly string[]>>) {
  const localIds = await realInventory();
  for (const [ark, ids] of Object.entries(names)) await register(localIds, ark, ...ids);
  return { localIds, laboratory: await Laboratory.open({ localIds }) };
}

const objectsIn = ({ store }: Laboratory): string[] => [...validateRoot(store).objects.keys()];

describe("the depositor's own names", () => {
  test("find the object that the inventory has under them, and new ones join the old", async () => {
    const { laboratory, localIds } = await withNames({ [KNOWN]: ["box 3"] });
    const attempt = await laboratory.job(NAMED).run();
    expect(changesOf(attempt).identifiers).toMatchObject({ primary_id: KNOWN, primary_source: "found" });
    expect(storedVersion(attempt).text("system/mrt-ingest.txt")).toContain(`retrievedIdentifier:\t${KNOWN}`);
    expect(laboratory.minter.minted).toEqual([]);
    expect(await localIds.localIdsOf(OWNER, KNOWN)).toMatchObject({ localIds: ["box 3", "shelf 7"] });
  });

  test("are another owner's own", async () => {
    const localIds = await realInventory();
    const theirs = { ownerArk: "ark:/99999/fk4others", ark: KNOWN, localIds: ["shelf 7"], created: "2026" };
    await localIds.registerLocalIds(theirs);
    const laboratory = await Laboratory.open({ localIds });
    expect(changesOf(await laboratory.job(NAMED).run()).identifiers).toMatchObject({ primary_source: "minted" });
  });

  test("are asked for and registered while their locks are held, before anything is stored", async () => {
    const inventory = await realInventory();
    const seen: string[] = [];
    const look = (what: string): void => {
      expect(laboratory.locked.slice(0, 2)).toEqual([`localid shelf 7 ${OWNER}`, `localid box 3 ${OWNER}`]);
      // Nothing is registered for an object before it is known that the job may write to it.
      expect(laboratory.locked.slice(2)).toEqual(what === "asked" ? [] : [expect.stringMatching(/^storage ark:/)]);
      expect(objectsIn(laboratory)).toEqual([]);
      seen.push(what);
    };
    const laboratory: Laboratory = await Laboratory.open({
      localIds: {
        ...inventory,
        findLocalIds: (...asked) => (look("asked"), inventory.findLocalIds(...asked)),
        registerLocalIds: (claim) => (look("registered"), inventory.registerLocalIds(claim)),
      },
    });
    expect(await laboratory.job(NAMED).run()).toMatchObject({ kind: "done" });
    expect(seen).toEqual(["asked", "registered"]);
  });

  test("agree with the ARK that was given", async () => {
    const { laboratory } = await withNames({ [KNOWN]: ["shelf 7"] });
    const attempt = await laboratory.job({ ...NAMED, identifiers: { primary_id: KNOWN, local_id: ["shelf 7"] } }).run();
    expect(changesOf(attempt).identifiers).toEqual({ primary_id: KNOWN, local_id: ["shelf 7"] });
  });

  test("of several objects fail the job, and nothing is stored", async () => {
    const { laboratory } = await withNames({ [KNOWN]: ["shelf 7"], [OTHER]: ["box 3"] });
    const attempt = await laboratory.job(NAMED).run();
    expect(attempt).toMatchObject({ kind: "fail", code: "IDENTIFIER_CONFLICT" });
    // Either may be another collection's: which objects they are stands in the log only.
    expect(attempt).toMatchObject({ message: expect.stringMatching(/box 3; shelf 7 .*name several objects/) });
    for (const ark of [KNOWN, OTHER]) expect(JSON.stringify(attempt)).not.toContain(ark);
    expect(objectsIn(laboratory)).toEqual([]);
  });

  test("of another object than the ARK that was given fail the job, which does not name the other one", async () => {
    const { laboratory } = await withNames({ [KNOWN]: ["shelf 7"] });
    const attempt = await laboratory.job({ ...NAMED, identifiers: { primary_id: OTHER, local_id: ["shelf 7"] } }).run();
    expect(attempt).toMatchObject({ kind: "fail", code: "IDENTIFIER_CONFLICT" });
    for (const given of [OTHER, "shelf 7"]) expect(attempt).toMatchObject({ message: expect.stringContaining(given) });
    expect(JSON.stringify(attempt)).not.toContain(KNOWN);
    expect(objectsIn(laboratory)).toEqual([]);
  });

  test("of a job that was given up before it stored anything are the next job's, with the same ARK", async () => {
    const { laboratory, localIds } = await withNames({});
    const first = laboratory.job(NAMED);
    expect(await first.run(await stepCalled("afterNames"))).toMatchObject({ kind: "crash" });
    const attempt = await laboratory.job({ ...NAMED, number: 2 }).run();
    const [ark] = laboratory.minter.minted;
    expect(changesOf(attempt).identifiers).toMatchObject({ primary_id: ark, primary_source: "found" });
    expect(await localIds.findLocalIds(OWNER, ["box 3"])).toEqual({ kind: "found", ark });
  });
});

/** The number of the step of that name, counted in a rehearsal of its own. */
async function stepCalled(name: string): Promise<number> {
  const rehearsal = await Laboratory.open();
  await rehearsal.job(NAMED).run();
  const index = rehearsal.steps.indexOf(name);
  expect(index).toBeGreaterThanOrEqual(0);
  return index + 1;
}

describe("a name that somebody without our locks registers meanwhile", () => {
  /** Between our question and our claim. */
  const overtaken = (inventory: Inventory): LocalIdIndex => ({
    ...inventory,
    registerLocalIds: async (claim) => {
      await register(inventory, KNOWN, "shelf 7");
      return inventory.registerLocalIds(claim);
    },
  });

  test("makes a job whose ARK was only minted wait, and take the registered one", async () => {
    const laboratory = await Laboratory.open({ localIds: overtaken(await realInventory()) });
    const job = laboratory.job(NAMED);
    const waiting = await job.run();
    expect(waiting).toMatchObject({ kind: "snooze", why: expect.stringContaining("shelf 7") });
    expect(JSON.stringify(waiting)).not.toContain(KNOWN);
    expect(objectsIn(laboratory)).toEqual([]);
    expect(changesOf(await job.run()).identifiers).toMatchObject({ primary_id: KNOWN, primary_source: "found" });
    expect(objectsIn(laboratory)).toEqual([KNOWN]);
  });

  test("fails a job whose ARK was given, which does not name the other object", async () => {
    const laboratory = await Laboratory.open({ localIds: overtaken(await realInventory()) });
    const attempt = await laboratory.job({ ...NAMED, identifiers: { primary_id: OTHER, local_id: ["shelf 7"] } }).run();
    expect(attempt).toMatchObject({ kind: "fail", code: "IDENTIFIER_CONFLICT" });
    for (const given of [OTHER, "shelf 7"]) expect(attempt).toMatchObject({ message: expect.stringContaining(given) });
    expect(JSON.stringify(attempt)).not.toContain(KNOWN);
    expect(objectsIn(laboratory)).toEqual([]);
  });

  test("fails a job that has stored something under the ARK it minted", async () => {
    const { laboratory, localIds } = await withNames({});
    const attempt = await laboratory.job({ files: NAMED.files }).run();
    const { primary_id: minted } = changesOf(attempt).identifiers!;
    await register(localIds, KNOWN, "shelf 7");
    const identifiers = { primary_id: minted, primary_source: "minted", local_id: ["shelf 7"] };
    const again = await laboratory.job({ ...NAMED, identifiers }).run();
    expect(again).toMatchObject({ kind: "fail", code: "IDENTIFIER_CONFLICT" });
    expect(again).toMatchObject({ message: expect.stringContaining(minted!) });
    expect(JSON.stringify(again)).not.toContain(KNOWN);
  });
});

describe("two jobs with the same new name", () => {
  const second: Deposit = { ...NAMED, files: { "second.txt": "second" }, number: 2 };

  test("make one object of two versions, wherever the first is killed while the second runs", async () => {
    const rehearsal = await Laboratory.open();
    await rehearsal.job(NAMED).run();
    const steps = [...rehearsal.steps];
    expect(steps).toEqual(expect.arrayContaining(["afterIdentify", "afterMint", "afterNames", "afterEffect"]));
    for (const [index, step] of steps.entries()) {
      const { laboratory, localIds } = await withNames({});
      const jobs = [laboratory.job(NAMED), laboratory.job(second)] as const;
      expect(await jobs[0].run(index + 1)).toEqual({ kind: "crash", at: step });
      const done = [await jobs[1].run(), await jobs[0].run()].map(changesOf);
      const arks = new Set(done.map(({ identifiers }) => identifiers!.primary_id));
      expect([step, arks.size, objectsIn(laboratory)]).toEqual([step, 1, [...arks]]);
      const versions = done.map(({ inventory }) => /\/(v\d+)\/inventory\.json$/.exec(inventory!.manifest_url)?.[1]);
      expect(versions.sort()).toEqual(["v1", "v2"]);
      expect(validateRoot(laboratory.store)).toMatchObject({ errors: [], warnings: [] });
      expect(await localIds.localIdsOf(OWNER, [...arks][0]!)).toMatchObject({ localIds: ["shelf 7", "box 3"] });
    }
  });
});

describe("an update", () => {
  const update = (local_id: readonly string[], number: number, name = "more.txt"): Deposit => ({
    files: { [name]: "more" },
    identifiers: { primary_id: KNOWN, local_id: [...local_id] },
    configuration: { submission_mode: "update" },
    number,
  });

  test("keeps the names that the object has, after its own", async () => {
    const { laboratory } = await withNames({ [KNOWN]: ["old 1", "old 2"] });
    const attempt = await laboratory.job(update(["new", "old 2"], 2)).run();
    expect(changesOf(attempt).identifiers).toMatchObject({ local_id: ["new", "old 2", "old 1"] });
    expect(storedVersion(attempt).text("system/mrt-mom.txt")).toContain("new;old 2;old 1");
  });

  test("says the same again, although another job has added a name since", async () => {
    const { laboratory } = await withNames({ [KNOWN]: ["old"] });
    const job = laboratory.job(update([], 2));
    const first = await job.run();
    expect(await laboratory.job(update(["newer"], 3, "newer.txt")).run()).toMatchObject({ kind: "done" });
    expect(await job.run()).toEqual(first);
  });

  test("that is no update brings its own names only", async () => {
    const { laboratory } = await withNames({ [KNOWN]: ["old"] });
    const attempt = await laboratory.job({ ...update(["new"], 2), configuration: { submission_mode: "add" } }).run();
    expect(changesOf(attempt).identifiers).toMatchObject({ local_id: ["new"] });
  });
});

test.each(["findLocalIds", "registerLocalIds", "localIdsOf", "belongingOf"] as const)(
  "while the inventory is away (%s) a job sleeps, says why, and is counted",
  async (question) => {
    const inventory = await realInventory();
    let away = true;
    const answer = () => Promise.resolve({ kind: "unavailable", message: "ECONNREFUSED" } as const);
    let counted = 0;
    const laboratory = await Laboratory.open({
      localIds: new Proxy(inventory, {
        get: (target, name) => (away && name === question ? answer : (Reflect.get(target, name) as unknown)),
      }),
      onInventoryAway: () => (counted += 1),
    });
    const job = laboratory.job({
      ...NAMED,
      identifiers: { primary_id: KNOWN, local_id: ["shelf 7"] },
      configuration: { submission_mode: "update" },
    });
    const why = expect.stringMatching(/the inventory .* ECONNREFUSED/);
    expect(await job.run()).toEqual({ kind: "snooze", delayMs: 5_000, why });
    expect(counted).toBe(1);
    expect(objectsIn(laboratory)).toEqual([]);
    away = false;
    expect(await job.run()).toMatchObject({ kind: "done" });
  },
);
