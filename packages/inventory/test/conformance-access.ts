/** Embargoes, data use agreements, descriptions, nodes and the auditor's work list, in whatever database. */
import { describe, expect, test } from "@jest/globals";
import type { Bench } from "./conformance.ts";
import { A_DATA_USE, aVersion, type VersionParts } from "./version.ts";

export function accessConformance({ inventory, another, rows, change }: Bench): void {
  const record = async (parts: VersionParts): Promise<string> => (await inventory().record(aVersion(parts))).kind;
  const embargoes = (): ReturnType<typeof rows> =>
    rows("select ark, embargo_end_date from inv_embargoes e join inv_objects o on o.id = e.inv_object_id order by ark");

  describe("an embargo", () => {
    const ark = aVersion().ark;
    const until = (embargo_end_date: string) => [{ ark, embargo_end_date }];

    test.each([
      ["2099-12-31T00:00:00Z", "2099-12-31T00:00:00Z"],
      ["2099-12-31t00:00:00z", "2099-12-31T00:00:00Z"],
      ["2099-12-31T00:00:00", "2099-12-31T00:00:00Z"],
      ["2099-12-31T16:00:00-08:00", "2100-01-01T00:00:00Z"],
      ["2099-12-31T00:00:00.001Z", "2099-12-31T00:00:01Z"],
      ["9999-12-31T23:59:59-08:00", "9999-12-31T23:59:59Z"],
    ])("until %s is recorded as %s, so that texts sort as times", async (embargoEndDate, recorded) => {
      expect(await record({ embargoEndDate })).toBe("recorded");
      expect(await embargoes()).toEqual(until(recorded));
    });

    test("is replaced and lifted by later versions, and set again", async () => {
      await record({ embargoEndDate: "2030-01-01T00:00:00Z" });
      await record({ ark: "ark:/99999/fk4two", embargoEndDate: "2031-01-01T00:00:00Z" });
      const another = { ark: "ark:/99999/fk4two", embargo_end_date: "2031-01-01T00:00:00Z" };
      await record({ number: 2, embargoEndDate: "2040-01-01T00:00:00Z" });
      expect(await embargoes()).toEqual([...until("2040-01-01T00:00:00Z"), another]);
      await record({ number: 3 });
      expect(await embargoes()).toEqual([another]);
      await record({ number: 4, embargoEndDate: "2050-01-01T00:00:00Z" });
      expect(await embargoes()).toEqual([...until("2050-01-01T00:00:00Z"), another]);
    });

    test("of an earlier version that comes late changes nothing, and nor does a repetition", async () => {
      await record({ number: 3, embargoEndDate: "2040-01-01T00:00:00Z" });
      expect(await record({ number: 1, embargoEndDate: "2020-01-01T00:00:00Z" })).toBe("recorded");
      expect(await record({ number: 2 })).toBe("recorded");
      expect(await embargoes()).toEqual(until("2040-01-01T00:00:00Z"));
      await record({ number: 4 });
      expect(await record({ number: 3, embargoEndDate: "2040-01-01T00:00:00Z" })).toBe("already");
      expect(await embargoes()).toEqual([]);
    });
  });

  describe("a data use agreement", () => {
    const COLUMNS =
      "title, terms, template, accept_obligation, name_obligation, affiliation_obligation, email_obligation, applicability, persistence, notification";

    test("is recorded whole", async () => {
      await record({ dataUse: A_DATA_USE });
      expect(await rows(`select ${COLUMNS}, inv_collection_id, identifier from inv_duas`)).toEqual([
        {
          title: A_DATA_USE.title,
          terms: A_DATA_USE.terms,
          template: "<html/>",
          accept_obligation: "required",
          name_obligation: "optional",
          affiliation_obligation: "none",
          email_obligation: "required",
          applicability: "object",
          persistence: "session",
          notification: "papers@example.org",
          inv_collection_id: null,
          identifier: null,
        },
      ]);
    });

    test("is what the newest version says: replaced, withdrawn, and not brought back by one that comes late", async () => {
      const titles = () => rows("select title from inv_duas");
      await record({ number: 2, dataUse: A_DATA_USE });
      await record({ number: 3, dataUse: { ...A_DATA_USE, title: "New terms" } });
      expect(await titles()).toEqual([{ title: "New terms" }]);
      await record({ number: 4 });
      expect(await titles()).toEqual([]);
      await record({ number: 1, dataUse: A_DATA_USE });
      expect(await titles()).toEqual([]);
    });

    test("of an object that is a collection is the collection's", async () => {
      const { ark } = aVersion();
      await record({ dataUse: A_DATA_USE, aggregate: "MRT-collection" });
      const sql = "select c.ark as ark from inv_duas d join inv_collections c on c.id = d.inv_collection_id";
      expect(await rows(sql)).toEqual([{ ark }]);
    });
  });

  test("descriptions are recorded with each version, one row a file, with or without their text", async () => {
    const long = `<eml>${"é🌍".repeat(100_000)}</eml>`;
    const eml = { path: "producer/mrt-eml.xml", schema: "EML", schemaVersion: null, value: long } as const;
    const dataCite = {
      path: "producer/mrt-datacite.xml",
      schema: "DataCite",
      schemaVersion: "3.1",
      value: null,
    } as const;
    await record({ metadata: [eml, dataCite] });
    await record({ number: 2, metadata: [{ ...eml, value: "<eml/>" }] });
    const found = await rows(
      "select v.number as number, filename, md_schema, version, serialization, value from inv_metadatas m join inv_versions v on v.id = m.inv_version_id order by m.id",
    );
    const ofEml = { filename: eml.path, md_schema: "EML", version: null, serialization: "xml" };
    const ofDataCite = { filename: dataCite.path, md_schema: "DataCite", version: "3.1", serialization: "xml" };
    expect(found).toEqual([
      { number: 1, ...ofEml, value: long },
      { number: 1, ...ofDataCite, value: null },
      { number: 2, ...ofEml, value: "<eml/>" },
    ]);
  });

  describe("the auditor's work list", () => {
    const audits = () =>
      rows(
        "select v.number as version, n.number as node, pathname, url, status, a.created as created, verified, modified, failed_size, failed_digest_value, a.note as note from inv_audits a join inv_files f on f.id = a.inv_file_id join inv_versions v on v.id = a.inv_version_id and v.id = f.inv_version_id join inv_nodes n on n.id = a.inv_node_id order by a.id",
      );

    test("has each content once, with the version that brought it, not verified yet", async () => {
      await record({ files: ["producer/a b.txt", "producer/A b.txt"], storageNode: "7777" });
      await record({ number: 2, files: ["producer/new.txt"], kept: ["producer/a b.txt"], storageNode: "7777" });
      const expected = (version: number, pathname: string, name: string) => ({
        version,
        node: 7777,
        pathname,
        url: `file:///srv/store/content/producer/${name}`,
        status: "unverified",
        created: aVersion({ number: version }).created,
        verified: null,
        modified: null,
        failed_size: 0,
        failed_digest_value: null,
        note: null,
      });
      expect(await audits()).toEqual([
        expected(1, "producer/a b.txt", "a%20b.txt"),
        expected(1, "producer/A b.txt", "A%20b.txt"),
        expected(2, "producer/new.txt", "new.txt"),
      ]);
      expect(await rows("select full_size, billable_size from inv_files where pathname like '%.txt'")).toEqual([
        { full_size: 5, billable_size: 5 },
        { full_size: 5, billable_size: 5 },
        { full_size: 5, billable_size: 5 },
        { full_size: 5, billable_size: 0 },
      ]);
    });

    test("of a version that keeps everything stays as it is", async () => {
      await record({});
      const before = await audits();
      expect(await record({ number: 2, files: [], kept: ["producer/hello.txt"] })).toBe("recorded");
      expect(await audits()).toEqual(before);
    });
  });

  describe("the node of an object", () => {
    const links = () =>
      rows(
        "select number, role, version_number, replicated from inv_nodes_inv_objects l join inv_nodes n on n.id = l.inv_node_id order by number",
      );

    test("is primary, and to be replicated again with each new version", async () => {
      await record({ storageNode: "7777" });
      expect(await links()).toEqual([{ number: 7777, role: "primary", version_number: 1, replicated: null }]);
      const replicated = "2026-02-01T04:00:00Z";
      await change(`update inv_nodes_inv_objects set replicated = '${replicated}'`);
      await record({ storageNode: "7777" });
      expect(await links()).toMatchObject([{ version_number: 1, replicated }]);
      await record({ number: 2, storageNode: "7777" });
      expect(await links()).toEqual([{ number: 7777, role: "primary", version_number: 2, replicated: null }]);
    });

    test("is that of the newest version, in whatever order they come: there is one primary", async () => {
      await record({ number: 2, storageNode: "8888" });
      await record({ number: 1, storageNode: "7777" });
      const first = { number: 7777, role: "secondary", version_number: 1, replicated: null };
      expect(await links()).toEqual([first, { number: 8888, role: "primary", version_number: 2, replicated: null }]);
      await record({ number: 3, storageNode: "9999" });
      expect(await links()).toMatchObject([
        { number: 7777, role: "secondary" },
        { number: 8888, role: "secondary", version_number: 2 },
        { number: 9999, role: "primary", version_number: 3 },
      ]);
    });
  });

  describe("a database of the release before", () => {
    const MIGRATION = "name = '2026-03-access-and-audits'";
    const forget = () => change(`delete from kysely_migration where ${MIGRATION}`);
    const noted = () => rows(`select name from kysely_migration where ${MIGRATION}`);
    const goOn = async (): Promise<void> => {
      const other = await another();
      expect((await other.record(aVersion({ number: 2, dataUse: A_DATA_USE }))).kind).toBe("recorded");
      await other.close();
      expect(await noted()).toHaveLength(1);
      expect(await rows("select title from inv_duas")).toEqual([{ title: A_DATA_USE.title }]);
      expect(
        await rows(
          "select number, replicated from inv_versions v join inv_nodes_inv_objects l on l.inv_object_id = v.inv_object_id order by number",
        ),
      ).toEqual([
        { number: 1, replicated: null },
        { number: 2, replicated: null },
      ]);
    };

    test("is brought up to date with all that it holds", async () => {
      await record({});
      for (const table of ["inv_audits", "inv_metadatas", "inv_duas", "inv_embargoes"])
        await change(`drop table ${table}`);
      for (const column of ["base_url", "created"]) await change(`alter table inv_nodes drop column ${column}`);
      await change("alter table inv_nodes_inv_objects drop column replicated");
      await forget();
      await goOn();
    });

    test("whose migration was cut short before it was noted is gone on with", async () => {
      await record({ dataUse: A_DATA_USE });
      expect(await noted()).toHaveLength(1);
      await forget();
      await goOn();
    });
  });
}
