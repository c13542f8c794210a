/** A version of somebody else's object, stored all the same: the inventory's own transaction refuses it, in each database. */
import { afterAll, afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { type Inventory, openInventory, parseInventoryUrl } from "@sluice/inventory";
import { skipUnless, startMariaDb } from "@sluice/local-parts";
import { Office } from "./support/recording.ts";
import { ARK, COLLECTION, OWNER, StoredObject } from "./support/stored-object.ts";

const started = await startMariaDb();
afterAll(async () => {
  if (!("skip" in started)) await started.stop();
});

const EVIL = "ark:/99999/fk4evil";
const STRANGER = "ark:/99999/fk4stranger";
const DONE = { kind: "done", changes: {} };
const MISMATCH = {
  kind: "fail",
  code: "COLLECTION_MISMATCH",
  message: expect.stringMatching(/^version 2 of \S+ was stored for another/),
};

let office: Office;
let inventory: Inventory;

async function openIn(url: string): Promise<void> {
  office = new Office();
  const parsed = parseInventoryUrl(url.replace("OFFICE", office.root));
  if (parsed === null) throw new Error(url);
  inventory = await openInventory(parsed);
  office.useInventory(inventory);
}
afterEach(() => office.close());

/** Each test has an object of its own: the databases are the tests' together. */
let objects = 0;
const newArk = (): string => `${ARK}${(objects += 1)}`;

function refusals(): void {
  test.each<readonly [string, { readonly collection: string; readonly owner?: string }]>([
    ["another collection", { collection: EVIL }],
    ["another owner", { collection: COLLECTION, owner: STRANGER }],
  ])("a version of %s fails its job, and nothing of it is recorded", async (_what, theirs) => {
    const ark = newArk();
    const object = new StoredObject(office.store, ark);
    const first = object.addVersion({ collection: COLLECTION, localIds: [`hers ${ark}`] });
    expect(await office.record({ ark, manifestUrl: first })).toEqual(DONE);
    const second = object.addVersion({ ...theirs, job: 2, localIds: [`theirs ${ark}`] });
    expect(await office.record({ ark, manifestUrl: second, number: 2 })).toEqual(MISMATCH);
    const value = { owner: OWNER, collections: [COLLECTION] };
    expect(await inventory.belongingOf(ark)).toEqual({ kind: "found", value });
    expect(await inventory.localIdsOf(OWNER, ark)).toMatchObject({ localIds: [`hers ${ark}`] });
    expect(await inventory.findLocalIds(theirs.owner ?? OWNER, [`theirs ${ark}`])).toMatchObject({ kind: "none" });
    // The object is still its owner's to update.
    const third = object.addVersion({ collection: COLLECTION, job: 3 });
    expect(await office.record({ ark, manifestUrl: third, number: 3 })).toEqual(DONE);
  });
}

describe("in SQLite", () => {
  beforeEach(() => openIn("sqlite:OFFICE/db/inventory.db"));
  refusals();
});

skipUnless(describe, started)("in MariaDB", () => {
  beforeEach(() => openIn("skip" in started ? "" : started.url));
  refusals();
});
