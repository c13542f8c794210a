/** What every inventory must do, whatever its database: each kind runs this suite on a real one. */
import { describe, expect, test } from "@jest/globals";
import type { Inventory } from "../src/index.ts";
import { accessConformance } from "./conformance-access.ts";
import { auditConformance } from "./conformance-audit.ts";
import { belongingConformance } from "./conformance-belonging.ts";
import { A_DATA_USE, anEndedBatch, anEndedJob, aVersion, COLLECTION, OWNER } from "./version.ts";

export interface Bench {
  /** The inventory of the test, on a database that nobody has written to. */
  readonly inventory: () => Inventory;
  /** Another process's view of the same database. */
  readonly another: () => Promise<Inventory>;
  /** What the tables hold, read past the inventory. */
  readonly rows: (sql: string) => Promise<readonly Record<string, unknown>[]>;
  /** What others do to them. */
  readonly change: (sql: string) => Promise<void>;
}

const TABLES =
  "objects versions files ingests localids dublinkernels owners collections nodes collections_inv_objects nodes_inv_objects metadatas embargoes duas audits";

export async function counts(rows: Bench["rows"]): Promise<Record<string, number>> {
  const found: Record<string, number> = {};
  for (const table of TABLES.split(" ")) {
    const [row] = await rows(`select count(*) as n from inv_${table}`);
    found[table] = Number(row?.["n"]);
  }
  return found;
}

const RECORDED = { kind: "recorded" };
const ALREADY = { kind: "already" };

/** A row in every table. */
const EVERYTHING = {
  embargoEndDate: "2099-01-01T00:00:00Z",
  dataUse: A_DATA_USE,
  metadata: [{ path: "producer/mrt-eml.xml", schema: "EML", schemaVersion: null, value: "<eml/>" }],
} as const;

export function inventoryConformance(bench: Bench): void {
  const { inventory, another, rows } = bench;
  accessConformance(bench);
  auditConformance(bench);
  belongingConformance(bench);

  describe("its fleet", () => {
    const stampOf = async () => await inventory().stamp.read();

    test("is nobody's until the first one names it, follows a restore, and goes neither back nor to another", async () => {
      expect(await stampOf()).toEqual({ kind: "read", stamp: null });
      const other = await another();
      await Promise.all(
        [inventory(), other].map(({ stamp }) => stamp.write({ fleet: "a", epoch: 3 }).catch(() => null)),
      );
      await inventory().stamp.write({ fleet: "b", epoch: 4 });
      expect(await stampOf()).toEqual({ kind: "read", stamp: { fleet: "a", epoch: 3 } });
      await other.stamp.write({ fleet: "a", epoch: 1_800_000_000 });
      await inventory().stamp.write({ fleet: "a", epoch: 4 });
      expect(await stampOf()).toEqual({ kind: "read", stamp: { fleet: "a", epoch: 1_800_000_000 } });
      await other.close();
    });
  });

  test("versions are counted by the batch that they came with, all of them or those since a time", async () => {
    const [first, second] = [aVersion(), aVersion({ number: 2 })];
    const other = aVersion({ ark: "ark:/99999/fk4other", number: 3 });
    const elsewhere = { ...other, ingest: { ...other.ingest, batch: "bid0000000009" } };
    for (const version of [first, second, elsewhere]) expect(await inventory().record(version)).toEqual(RECORDED);
    const { batch = "" } = first.ingest;
    expect(await inventory().recordedOf(batch)).toEqual({ kind: "found", value: 2 });
    expect(await inventory().recordedOf("bid0000000077")).toEqual({ kind: "found", value: 0 });
    expect(await inventory().recordedSince(second.created)).toEqual({
      kind: "found",
      value: [
        { batch, versions: 1 },
        { batch: "bid0000000009", versions: 1 },
      ],
    });
    expect(await inventory().recordedSince("2030-01-01T00:00:00Z")).toEqual({ kind: "found", value: [] });
  });

  describe("a version", () => {
    test("is recorded with all its parts", async () => {
      const version = aVersion({ localIds: ["shelf 7", "box 3"], storageNode: "7777" });
      expect(await inventory().record(version)).toEqual(RECORDED);
      expect(await rows("select ark, version_number, erc_who, erc_what, erc_where, created from inv_objects")).toEqual([
        {
          ark: version.ark,
          version_number: 1,
          erc_who: "Ann",
          erc_what: "Hello 🌍",
          erc_where: `${version.ark} ; shelf 7;box 3`,
          created: version.created,
        },
      ]);
      expect(await rows("select ark from inv_owners union all select ark from inv_collections")).toEqual([
        { ark: OWNER },
        { ark: COLLECTION },
      ]);
      expect(await rows("select number, base_url, created from inv_nodes")).toEqual([
        { number: 7777, base_url: "file:///srv/store", created: version.created },
      ]);
      expect(await rows("select pathname, source, role, full_size from inv_files order by id")).toEqual([
        { pathname: "producer/hello.txt", source: "producer", role: "data", full_size: 5 },
        { pathname: "system/mrt-erc.txt", source: "system", role: "metadata", full_size: 5 },
      ]);
      expect(await counts(rows)).toMatchObject({ localids: 2, dublinkernels: 5, nodes_inv_objects: 1, ingests: 1 });
    });

    test("that is recorded again changes nothing, whoever does it", async () => {
      const version = aVersion({ ...EVERYTHING, localIds: ["shelf 7"] });
      await inventory().record(version);
      const before = await counts(rows);
      expect(Object.values(before)).not.toContain(0);
      expect(await inventory().record(version)).toEqual(ALREADY);
      const other = await another();
      expect(await other.record(version)).toEqual(ALREADY);
      await other.close();
      expect(await counts(rows)).toEqual(before);
    });

    test("whose transaction is left before its commit has left nothing", async () => {
      const version = aVersion({ ...EVERYTHING, localIds: ["shelf 7"] });
      const gone = () => Promise.reject(new Error("the process ends here"));
      await expect(inventory().record(version, gone)).rejects.toThrow("the process ends here");
      expect(new Set(Object.values(await counts(rows)))).toEqual(new Set([0]));
      expect(await inventory().record(version)).toEqual(RECORDED);
    });

    test("of another job under a number that is taken is refused", async () => {
      await inventory().record(aVersion());
      expect(await inventory().record(aVersion({ job: "jid-other" }))).toMatchObject({ kind: "refused" });
    });

    test("may come before an earlier one: the object keeps what the highest says", async () => {
      expect(await inventory().record(aVersion({ number: 2, who: "Bob" }))).toEqual(RECORDED);
      expect(await inventory().record(aVersion())).toEqual(RECORDED);
      expect(await rows("select version_number, erc_who from inv_objects")).toEqual([
        { version_number: 2, erc_who: "Bob" },
      ]);
      expect(await rows("select version_number from inv_nodes_inv_objects")).toEqual([{ version_number: 2 }]);
      expect(await counts(rows)).toMatchObject({ objects: 1, versions: 2, nodes_inv_objects: 1 });
    });

    test("of 2,000 files is one transaction like any other", async () => {
      const files = Array.from({ length: 2_000 }, (_, i) => `producer/f${i}.txt`);
      expect(await inventory().record(aVersion({ files }))).toEqual(RECORDED);
      expect(await counts(rows)).toMatchObject({ files: 2_000, audits: 2_000 });
    });

    test("has paths that differ in case, accents, a space at the end, or far behind", async () => {
      const long = `producer/${"x".repeat(3_000)}`;
      const files = [
        "producer/a",
        "producer/A",
        "producer/á",
        "producer/a ",
        "producer/😀.txt",
        `${long}1`,
        `${long}2`,
      ];
      expect(await inventory().record(aVersion({ files }))).toEqual(RECORDED);
      const stored = await rows("select pathname from inv_files order by id");
      expect(stored.map(({ pathname }) => pathname)).toEqual(files);
    });

    test("with one path twice is refused whole", async () => {
      const files = ["producer/a", "producer/a"];
      expect(await inventory().record(aVersion({ files }))).toMatchObject({ kind: "refused" });
      expect(await counts(rows)).toMatchObject({ objects: 0, files: 0 });
    });

    test("recorded by twenty at once, of one owner and collection, is there once", async () => {
      const versions = Array.from({ length: 20 }, (_, i) => aVersion({ ark: `ark:/99999/fk4x${i % 10}` }));
      const kinds = await Promise.all(versions.map(async (version) => (await inventory().record(version)).kind));
      expect(kinds.sort()).toEqual([...Array<string>(10).fill("already"), ...Array<string>(10).fill("recorded")]);
      expect(await counts(rows)).toMatchObject({ objects: 10, versions: 10, owners: 1, collections: 1, nodes: 1 });
    });
  });

  describe("a depositor's name", () => {
    test("leads to its object, by owner", async () => {
      await inventory().record(aVersion({ localIds: ["shelf 7", "box 3"] }));
      const find = (owner: string, ids: readonly string[]) => inventory().findLocalIds(owner, ids);
      const found = { kind: "found", ark: "ark:/99999/fk4object" };
      expect(await find(OWNER, ["shelf 7"])).toEqual(found);
      expect(await find(OWNER, ["unheard of", "box 3"])).toEqual(found);
      expect(await find(OWNER, ["unheard of"])).toEqual({ kind: "none" });
      expect(await find(OWNER, [])).toEqual({ kind: "none" });
      expect(await find("ark:/99999/fk4other", ["shelf 7"])).toEqual({ kind: "none" });
    });

    test("is a name to the letter", async () => {
      await inventory().record(aVersion({ localIds: ["Shelf"] }));
      for (const other of ["shelf", "Shelf ", "Shélf"])
        expect([other, await inventory().findLocalIds(OWNER, [other])]).toEqual([other, { kind: "none" }]);
    });

    test("of one object and another of a second are a conflict", async () => {
      await inventory().record(aVersion({ localIds: ["shelf 7"] }));
      await inventory().record(aVersion({ ark: "ark:/99999/fk4two", localIds: ["box 3"] }));
      expect(await inventory().findLocalIds(OWNER, ["shelf 7", "box 3"])).toEqual({
        kind: "conflict",
        localIds: ["box 3", "shelf 7"],
        message: "box 3 is the name of ark:/99999/fk4two, shelf 7 is the name of ark:/99999/fk4object",
      });
    });

    test("is not given to a second object, and that object is not recorded at all", async () => {
      await inventory().record(aVersion({ localIds: ["shelf 7"] }));
      const before = await counts(rows);
      const second = aVersion({ ark: "ark:/99999/fk4two", localIds: ["shelf 7"] });
      expect(await inventory().record(second)).toMatchObject({ kind: "conflict" });
      expect(await counts(rows)).toEqual(before);
    });

    test("may be another owner's as well", async () => {
      await inventory().record(aVersion({ localIds: ["shelf 7"] }));
      const theirs = aVersion({ ark: "ark:/99999/fk4two", localIds: ["shelf 7"], owner: "ark:/99999/fk4owner2" });
      expect(await inventory().record(theirs)).toEqual(RECORDED);
    });

    test("that two objects want at once is given to one", async () => {
      const wanting = ["one", "two", "three"].map((name) =>
        aVersion({ ark: `ark:/99999/fk4${name}`, localIds: ["shelf 7"] }),
      );
      const kinds = await Promise.all(wanting.map(async (version) => (await inventory().record(version)).kind));
      expect(kinds.sort()).toEqual(["conflict", "conflict", "recorded"]);
      expect(await counts(rows)).toMatchObject({ objects: 1, localids: 1 });
    });
  });

  describe("a name that is registered before its object is stored", () => {
    const claim = (ark: string, ...localIds: readonly string[]) =>
      inventory().registerLocalIds({ ownerArk: OWNER, ark, localIds, created: "2026-02-01T00:00:00Z" });
    const ONE = "ark:/99999/fk4one";
    const TWO = "ark:/99999/fk4two";

    test("is found, and recording its object finds the row there", async () => {
      expect(await claim(ONE, "shelf 7", "box 3")).toEqual({ kind: "registered" });
      expect(await inventory().findLocalIds(OWNER, ["box 3"])).toEqual({ kind: "found", ark: ONE });
      expect(await inventory().record(aVersion({ ark: ONE, localIds: ["shelf 7", "box 3"] }))).toEqual(RECORDED);
      expect(await counts(rows)).toMatchObject({ objects: 1, localids: 2 });
    });

    test("with commands of the database in it is a name like any other", async () => {
      const name = `x' or '1'='1'; drop table inv_localids; -- " \\' %_`;
      expect(await claim(ONE, name)).toEqual({ kind: "registered" });
      expect(await inventory().localIdsOf(OWNER, ONE)).toEqual({ kind: "listed", localIds: [name] });
      expect(await inventory().findLocalIds(OWNER, ["x", "x' or '1'='1"])).toEqual({ kind: "none" });
    });

    test("again is there once, and joined by new ones", async () => {
      for (const names of [["a"], ["a"], ["a", "b", "b"]])
        expect(await claim(ONE, ...names)).toEqual({ kind: "registered" });
      expect(await inventory().localIdsOf(OWNER, ONE)).toEqual({ kind: "listed", localIds: ["a", "b"] });
      expect(await inventory().localIdsOf("ark:/99999/fk4other", ONE)).toEqual({ kind: "listed", localIds: [] });
    });

    test("is refused to a second object, with all that came beside it, and both are named", async () => {
      await claim(ONE, "shelf 7");
      expect(await claim(TWO, "box 3", "shelf 7")).toEqual({
        kind: "conflict",
        localIds: ["shelf 7"],
        message: `the local id shelf 7 is that of ${ONE}, not of ${TWO}`,
      });
      expect(await counts(rows)).toMatchObject({ localids: 1 });
      expect(await inventory().record(aVersion({ ark: TWO, localIds: ["shelf 7"] }))).toMatchObject({
        kind: "conflict",
      });
    });

    test("by many at once is given to one", async () => {
      const arks = Array.from({ length: 8 }, (_, i) => `ark:/99999/fk4n${i}`);
      const kinds = await Promise.all(arks.map(async (ark) => (await claim(ark, "shelf 7")).kind));
      expect(kinds.sort()).toEqual([...Array<string>(7).fill("conflict"), "registered"]);
      expect(await counts(rows)).toMatchObject({ localids: 1 });
    });
  });

  describe("a batch that leaves the queue", () => {
    test("is found by its number and by its name, with its jobs", async () => {
      const batch = anEndedBatch();
      expect(await inventory().archiveBatch(batch)).toEqual({ kind: "archived", jobs: 3 });
      const { jobs: _jobs, ...facts } = batch;
      const value = { ...facts, jobCounts: { Completed: 2, Deleted: 1 } };
      expect(await inventory().findArchivedBatch(batch.id)).toEqual({ kind: "found", value });
      expect(await inventory().findArchivedBatch(batch.uuid)).toEqual({ kind: "found", value });
      expect(await inventory().findArchivedBatch("bid0000000008")).toEqual({ kind: "none" });
      for (const id of ["jid0000000003", "jid-uuid-3"])
        expect(await inventory().findArchivedJob(id)).toEqual({ kind: "found", value: anEndedJob(3, "Deleted") });
      expect(await inventory().findArchivedJob("jid0000000004")).toEqual({ kind: "none" });
      expect(await inventory().listArchivedJobs(value, { limit: 2 })).toEqual({
        kind: "found",
        value: [anEndedJob(1), anEndedJob(2)],
      });
      expect(await inventory().listArchivedJobs(value, { after: "jid0000000002", limit: 2 })).toEqual({
        kind: "found",
        value: [anEndedJob(3, "Deleted")],
      });
    });

    test("is not there before its last job is", async () => {
      function* broken() {
        yield [anEndedJob(1)];
        throw new Error("the process ends here");
      }
      await expect(inventory().archiveBatch(anEndedBatch({ jobs: broken() }))).rejects.toThrow();
      expect(await inventory().findArchivedBatch("bid0000000007")).toEqual({ kind: "none" });
      expect(await inventory().archiveBatch(anEndedBatch())).toEqual({ kind: "archived", jobs: 3 });
      expect(await rows("select count(*) as n from archived_jobs")).toEqual([{ n: 3 }]);
    });

    test("is archived again with what is left of it, and loses nothing", async () => {
      await inventory().archiveBatch(anEndedBatch());
      const outcome = { status: "Deleted", message: "by an operator" };
      await inventory().archiveBatch(anEndedBatch({ outcome, jobs: [[anEndedJob(3, "Deleted")]] }));
      expect(await inventory().findArchivedBatch("bid0000000007")).toMatchObject({
        value: { outcome, jobCounts: { Completed: 2, Deleted: 1 } },
      });
      expect(await rows("select count(*) as n from archived_batches")).toEqual([{ n: 1 }]);
    });

    test("may have had no job at all", async () => {
      expect(await inventory().archiveBatch(anEndedBatch({ jobs: [] }))).toEqual({ kind: "archived", jobs: 0 });
      expect(await inventory().findArchivedBatch("bid0000000007")).toMatchObject({ value: { jobCounts: {} } });
    });

    test("with the number of an older one, of a queue before this one, is the one that is found", async () => {
      await inventory().archiveBatch(anEndedBatch({ uuid: "bid-older", submitter: "bob" }));
      await inventory().archiveBatch(anEndedBatch());
      expect(await inventory().findArchivedBatch("bid0000000007")).toMatchObject({ value: { submitter: "anna" } });
      expect(await inventory().findArchivedBatch("bid-older")).toMatchObject({ value: { submitter: "bob" } });
    });
  });
}
