/**
 * Goal: a deposit changes an object only if the object is its owner's and its collection's, however it names the object.
 * Method: every way to name an object, with every verb, under every kind of profile, for objects with and without a record; the real
 * processor, recorder, OCFL store and inventory.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "@jest/globals";
import { type Inventory } from "@sluice/inventory";
import { locate } from "../src/store/ocfl/layout.ts";
import { type Attempt, type Deposit, Laboratory, OWNER, profilesOf, realInventory } from "./support/deposit.ts";
import { recordStored } from "./support/recorded.ts";
import { changesOf, objectOf, storedVersion } from "./support/stored-version.ts";

const HERS = "ark:/99999/fk4hers";
const EVIL = "ark:/99999/fk4evil";
const OTHER_OWNER = "ark:/99999/fk4stranger";
const SECRETS = ["Her title", "hers.txt", "box of"];

const profile = (id: string, owner: string, ...lines: readonly string[]): string =>
  [`ProfileID: ${id}`, "Type: MRT-curatorial", "Role: MRT-content", `Owner: ${owner}`, ...lines, ""].join("\n");

/** How a deposit names an object: by its ARK, by a local id, or by what an earlier run of the job wrote down. */
type Naming = "ark" | "name" | "written";
/** `apart`: the deposit becomes an object of its own. */
type Verdict = "changed" | "refused" | "apart";

interface WriterCase {
  readonly id: string;
  readonly owner: string;
  readonly lines: readonly string[];
  readonly verdicts: Readonly<Record<Naming, Verdict>>;
}

const all = (verdict: Verdict) => ({ ark: verdict, name: verdict, written: verdict });
const own = [`Collection.1: ${HERS}`];
const foreign = [`Collection.1: ${EVIL}`];
const further = [...foreign, `UpdatesCollection.1: ark:/99999/fk4third`, `UpdatesCollection.2: ${HERS}`];
// Local ids are an owner's own: under another owner they lead nowhere.
const stranger = { ark: "refused", name: "apart", written: "refused" } as const;

const WRITERS: readonly WriterCase[] = [
  { id: "hers_content", owner: OWNER, lines: own, verdicts: all("changed") },
  { id: "colleague_content", owner: OWNER, lines: own, verdicts: all("changed") },
  { id: "foreign_content", owner: OWNER, lines: foreign, verdicts: all("refused") },
  { id: "stranger_content", owner: OTHER_OWNER, lines: foreign, verdicts: stranger },
  { id: "same_collection_other_owner_content", owner: OTHER_OWNER, lines: own, verdicts: stranger },
  { id: "further_content", owner: OWNER, lines: further, verdicts: all("changed") },
  { id: "further_other_owner_content", owner: OTHER_OWNER, lines: further, verdicts: stranger },
  // Its objects are members of her collection as well, but hers are not members of its own.
  { id: "second_content", owner: OWNER, lines: [...foreign, `Collection.2: ${HERS}`], verdicts: all("refused") },
  // Demonstrations take an ARK for a local id.
  { id: "demo_hers_content", owner: OWNER, lines: own, verdicts: { ...all("changed"), ark: "apart" } },
  { id: "demo_foreign_content", owner: OWNER, lines: foreign, verdicts: { ...all("refused"), ark: "apart" } },
  { id: "demo_stranger_content", owner: OTHER_OWNER, lines: foreign, verdicts: { ...stranger, ark: "apart" } },
];

const PROFILES = profilesOf(...WRITERS.map(({ id, owner, lines }) => profile(id, owner, ...lines)));

const erc = (where: string): string => `erc:\nwho: Eve\nwhat: Mine now\nwhen: 2026\nwhere: ${where}\n`;
const dublinCore = (name: string): string =>
  `<?xml version="1.0"?><dc:dc xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:identifier>${name}</dc:identifier></dc:dc>`;

/** The form, the JSON body and a manifest's row all end up in the job's identifiers. */
const SOURCES: readonly [string, Naming, (ark: string, name: string) => Partial<Deposit>][] = [
  ["the ARK of form, JSON or row", "ark", (ark) => ({ identifiers: { primary_id: ark, local_id: [`poison ${ark}`] } })],
  ["the ARK in mrt-erc.txt", "ark", (ark) => ({ files: { "mrt-erc.txt": erc(ark) } })],
  [
    "the local id of form, JSON or row",
    "name",
    (ark, name) => ({ identifiers: { local_id: [name, `poison ${ark.slice(12)}`] } }),
  ],
  ["the local id in mrt-erc.txt", "name", (_ark, name) => ({ files: { "mrt-erc.txt": erc(name) } })],
  ["the local id in mrt-dc.xml", "name", (_ark, name) => ({ files: { "mrt-dc.xml": dublinCore(name) } })],
  ["what an earlier run found", "written", (ark) => ({ identifiers: { primary_id: ark, primary_source: "found" } })],
];

/** One ARK, written in other ways. What a verb does to it is the same as above. */
const SPELLINGS: typeof SOURCES = [
  ["the newer form of the ARK", "ark", (ark) => ({ identifiers: { primary_id: ark.replace("ark:/", "ark:") } })],
  ["the ARK with hyphens", "ark", (ark) => ({ identifiers: { primary_id: ark.replace("fk4", "-f-k4-") } })],
  ["the ARK in capitals", "ark", (ark) => ({ identifiers: { primary_id: ark.replace("ark:", "ARK:") } })],
  ["the ARK with a slash behind it", "ark", (ark) => ({ identifiers: { primary_id: `${ark}/` } })],
  [
    "another spelling of the ARK in mrt-erc.txt",
    "ark",
    (ark) => ({ files: { "mrt-erc.txt": erc(`ARK${ark.slice(3)}-/`) } }),
  ],
];

const VERBS: readonly [string, Readonly<Record<string, string>>, NonNullable<Deposit["configuration"]>][] = [
  ["add", {}, { submission_mode: "add" }],
  ["update", {}, { submission_mode: "update" }],
  ["update that deletes", { "mrt-delete.txt": "hers.txt" }, { submission_mode: "update" }],
];

class Library {
  readonly laboratory: Laboratory;
  readonly inventory: Inventory;
  #jobs = 0;

  constructor(laboratory: Laboratory, inventory: Inventory) {
    this.laboratory = laboratory;
    this.inventory = inventory;
  }

  static async open(profiles = PROFILES): Promise<Library> {
    const inventory = await realInventory();
    return new Library(await Laboratory.open({ localIds: inventory, profiles }), inventory);
  }

  deposit(profileName: string, files: Readonly<Record<string, string>>, more: Partial<Deposit> = {}) {
    const configuration = { ...more.configuration, profile_name: profileName };
    const packed = objectOf({ ...files, ...more.files }, { identifiers: {}, ...more, configuration });
    return this.laboratory.job({ ...packed, files: { ...files, ...more.files }, number: (this.#jobs += 1) });
  }

  /** An object of hers; `recorded` or, as after a crash between, only stored. */
  async hers(ark: string, name: string, recorded: boolean): Promise<void> {
    const job = this.deposit(
      "hers_content",
      { "hers.txt": `hers ${ark}` },
      {
        identifiers: { primary_id: ark, local_id: [name, `box of ${name}`] },
        metadata: { erc_what: "Her title" } as never,
      },
    );
    const changes = changesOf(await job.run());
    if (recorded) expect(await this.record(job.job, changes)).toMatchObject({ kind: "done" });
  }

  record(...[job, changes]: [Parameters<typeof recordStored>[2], Parameters<typeof recordStored>[3]]) {
    return recordStored(this.laboratory.store, this.inventory, job, changes);
  }

  /** All that anybody could have changed of an object. */
  async stateOf(ark: string): Promise<unknown> {
    const root = readFileSync(join(this.laboratory.store, locate(ark).path, "inventory.json"), "utf8");
    const names = await Promise.all([OWNER, OTHER_OWNER].map((owner) => this.inventory.localIdsOf(owner, ark)));
    return { root, names, belongs: await this.inventory.belongingOf(ark) };
  }
}

function verdictOf(attempt: Attempt, ark: string): Verdict {
  if (attempt.kind === "fail") {
    expect(attempt).toMatchObject({ code: "COLLECTION_MISMATCH" });
    return "refused";
  }
  return changesOf(attempt).identifiers?.primary_id === ark ? "changed" : "apart";
}

describe.each([
  ["recorded", true],
  ["stored, and not recorded yet", false],
] as const)("an object that is %s", (_state, recorded) => {
  test.each(WRITERS)("and a deposit under $id", async ({ id, verdicts }) => {
    const library = await Library.open();
    const cases = [
      ...SOURCES.map((source) => [source, VERBS] as const),
      ...SPELLINGS.map((source) => [source, VERBS.slice(0, 1)] as const),
    ];
    for (const [i, [[source, naming, more], verbs]] of cases.entries()) {
      for (const [verb, files, configuration] of verbs) {
        const [ark, name] = [`ark:/99999/fk4${id}${i}${verb.length}`, `${source} ${verb}`];
        await library.hers(ark, name, recorded);
        const before = await library.stateOf(ark);
        const job = library.deposit(id, { "mine.txt": ark, ...files }, { ...more(ark, name), configuration });
        const attempt = await job.run();
        // Nothing to delete from an object of its own: the deposit fails for that, and touches nothing of hers.
        const expected = verdicts[naming];
        if (expected === "apart" && verb === "update that deletes") {
          expect([source, verb, attempt]).toEqual([source, verb, expect.objectContaining({ code: "STORE_FAILED" })]);
          expect(await library.stateOf(ark)).toEqual(before);
          continue;
        }
        expect([source, verb, verdictOf(attempt, ark)]).toEqual([source, verb, expected]);
        if (expected === "changed") await expectHerVersion(library, job.job, attempt, ark);
        else expect(await library.stateOf(ark)).toEqual(before);
        if (expected !== "refused") continue;
        const told = JSON.stringify([attempt, job.job.identifiers, job.records]);
        expect(SECRETS.filter((secret) => told.includes(secret))).toEqual([]);
        expect(told).not.toContain(HERS);
        if (naming === "name") expect(told).not.toContain(ark);
      }
    }
  });
});

/** The next version is recorded too, and the object is as much hers as before. */
async function expectHerVersion(
  library: Library,
  job: Parameters<Library["record"]>[0],
  attempt: Attempt,
  ark: string,
) {
  expect(storedVersion(attempt).text("system/mrt-membership.txt")).toBe(`${HERS}\n`);
  expect(await library.record(job, changesOf(attempt))).toMatchObject({ kind: "done" });
  expect(await library.inventory.belongingOf(ark)).toEqual({
    kind: "found",
    value: { owner: OWNER, collections: [HERS] },
  });
}
