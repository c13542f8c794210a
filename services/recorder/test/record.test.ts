import { mkdirSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import Database from "libsql";
import { Office } from "./support/recording.ts";
import { ARK, COLLECTION, OWNER, StoredObject } from "./support/stored-object.ts";

let office: Office;
beforeEach(() => {
  office = new Office();
});
afterEach(() => office.close());

const done = { kind: "done", changes: {} };

describe("recording a version", () => {
  test("writes its object, owner, collection, node, files, ingest, local ids and kernel", async () => {
    const object = new StoredObject(office.store);
    const manifestUrl = object.addVersion({ localIds: ["shelf 7", "box 3"], storageNode: "7777" });
    expect(await office.record({ manifestUrl })).toEqual(done);
    expect(office.locked).toEqual([`inventory ${ARK}`]);
    expect(
      office.rows("select ark, version_number, object_type, role, md5_3, erc_who, erc_where from inv_objects"),
    ).toEqual([
      {
        ark: ARK,
        version_number: 1,
        object_type: "MRT-curatorial",
        role: "MRT-content",
        md5_3: expect.stringMatching(/^[0-9a-f]{3}$/),
        erc_who: "Ann",
        erc_where: `${ARK} ; shelf 7;box 3`,
      },
    ]);
    expect(office.rows("select ark from inv_owners union all select ark from inv_collections")).toEqual([
      { ark: OWNER },
      { ark: COLLECTION },
    ]);
    expect(office.rows("select number, logical_volume from inv_nodes")).toEqual([
      { number: 7777, logical_volume: "file:///srv/store" },
    ]);
    expect(office.rows("select inv_object_ark, inv_owner_ark, local_id from inv_localids")).toEqual([
      { inv_object_ark: ARK, inv_owner_ark: OWNER, local_id: "shelf 7" },
      { inv_object_ark: ARK, inv_owner_ark: OWNER, local_id: "box 3" },
    ]);
    expect(office.rows("select seq_num, element, value from inv_dublinkernels order by seq_num")).toEqual([
      { seq_num: 1, element: "who", value: "Ann" },
      { seq_num: 2, element: "what", value: "Hello" },
      { seq_num: 3, element: "where", value: ARK },
      { seq_num: 4, element: "where", value: "shelf 7" },
      { seq_num: 5, element: "where", value: "box 3" },
    ]);
    expect(
      office.rows("select filename, ingest_type, profile, batch_id, job_id, storage_url from inv_ingests"),
    ).toEqual([
      {
        filename: "hello.txt",
        ingest_type: "file",
        profile: "library_content",
        batch_id: "bid0000000001",
        job_id: expect.stringMatching(/^jid-00000001-/),
        storage_url: manifestUrl,
      },
    ]);
  });

  test("knows size, type, digest, source and role of every file", async () => {
    const manifestUrl = new StoredObject(office.store).addVersion({
      files: { "hello.txt": "hello", "mrt-erc.txt": "erc:" },
    });
    await office.record({ manifestUrl });
    const files = office.rows(
      "select pathname, source, role, full_size, mime_type, digest_type from inv_files order by pathname",
    );
    expect(files).toHaveLength(8);
    expect(files.slice(0, 3)).toEqual([
      {
        pathname: "producer/hello.txt",
        source: "producer",
        role: "data",
        full_size: 5,
        mime_type: "text/x-hello",
        digest_type: "sha-256",
      },
      {
        pathname: "producer/mrt-erc.txt",
        source: "producer",
        role: "metadata",
        full_size: 4,
        mime_type: "text/plain",
        digest_type: "sha-256",
      },
      expect.objectContaining({ pathname: "system/mrt-erc.txt", source: "system", role: "metadata" }),
    ]);
    const [hello] = office.rows("select digest_value from inv_files where pathname = 'producer/hello.txt'");
    expect(hello).toEqual({ digest_value: "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824" });
  });

  test("knows the type of a file whose name is escaped in the storage manifest", async () => {
    const manifestUrl = new StoredObject(office.store).addVersion({ files: { "a|b.bin": "x" } });
    await office.record({ manifestUrl });
    const rows = office.rows("select mime_type from inv_files where pathname = 'producer/a|b.bin'");
    expect(rows).toEqual([{ mime_type: "text/x-hello" }]);
  });

  test("a second version is billed for what is new in it, and the object says what it says", async () => {
    const object = new StoredObject(office.store);
    await office.record({ manifestUrl: object.addVersion() });
    const second = object.addVersion({ job: 2, files: { "more.txt": "more!" }, who: "Bob" });
    expect(await office.record({ manifestUrl: second, number: 2 })).toEqual(done);
    expect(office.rows("select version_number, erc_who from inv_objects")).toEqual([
      { version_number: 2, erc_who: "Bob" },
    ]);
    expect(office.rows("select version_number from inv_nodes_inv_objects")).toEqual([{ version_number: 2 }]);
    const sizes = office.rows(
      "select pathname, full_size, billable_size from inv_files f join inv_versions v on v.id = f.inv_version_id where v.number = 2 and source = 'producer' order by pathname",
    );
    expect(sizes).toEqual([
      { pathname: "producer/hello.txt", full_size: 5, billable_size: 0 },
      { pathname: "producer/more.txt", full_size: 5, billable_size: 5 },
    ]);
    expect(office.counts()).toMatchObject({ objects: 1, versions: 2, owners: 1, collections: 1, nodes: 1 });
  });

  test("versions may come in any order: the object keeps what the highest says", async () => {
    const object = new StoredObject(office.store);
    const first = object.addVersion();
    const second = object.addVersion({ job: 2, who: "Bob" });
    await office.record({ manifestUrl: second, number: 2 });
    expect(await office.record({ manifestUrl: first })).toEqual(done);
    expect(office.rows("select version_number, erc_who from inv_objects")).toEqual([
      { version_number: 2, erc_who: "Bob" },
    ]);
    expect(office.rows("select version_number from inv_nodes_inv_objects")).toEqual([{ version_number: 2 }]);
    expect(office.counts()).toMatchObject({ versions: 2, ingests: 2 });
  });

  test("an object of 2,000 files is one transaction like any other", async () => {
    const files = Object.fromEntries(Array.from({ length: 2_000 }, (_, i) => [`f${i}.txt`, `${i}`]));
    const manifestUrl = new StoredObject(office.store).addVersion({ files });
    expect(await office.record({ manifestUrl })).toEqual(done);
    expect(office.counts()).toMatchObject({ files: 2_006 });
  });
});

describe("recording the same version again", () => {
  test("changes nothing", async () => {
    const manifestUrl = new StoredObject(office.store).addVersion({ localIds: ["shelf 7"] });
    await office.record({ manifestUrl });
    const before = office.counts();
    expect(await office.record({ manifestUrl })).toEqual(done);
    expect(office.counts()).toEqual(before);
  });

  test.each(["beforeEffect", "midEffect", "afterEffect"])(
    "after a crash at %s makes one set of rows",
    async (crashAt) => {
      const manifestUrl = new StoredObject(office.store).addVersion({ localIds: ["shelf 7"] });
      expect(await office.record({ manifestUrl, crashAt })).toBe("crash");
      expect(office.counts()["versions"]).toBe(crashAt === "afterEffect" ? 1 : 0);
      await office.close(); // the next run is another process
      expect(await office.record({ manifestUrl })).toEqual(done);
      expect(office.counts()).toMatchObject({ objects: 1, versions: 1, files: 7, audits: 7, localids: 1 });
    },
  );

  test("by two recorders at once makes one set of rows", async () => {
    const other = new Office();
    Object.defineProperty(other, "file", { value: office.file });
    Object.defineProperty(other, "store", { value: office.store });
    other.reader = office.reader;
    const manifestUrl = new StoredObject(office.store).addVersion();
    const outcomes = await Promise.all([office.record({ manifestUrl }), other.record({ manifestUrl })]);
    // Both on one thread: the one that meets the other's transaction cannot wait for it, and comes again.
    for (const [index, outcome] of outcomes.entries()) {
      if (outcome !== "crash" && outcome.kind === "snooze") outcomes[index] = await office.record({ manifestUrl });
    }
    expect(outcomes).toEqual([done, done]);
    expect(office.counts()).toMatchObject({ objects: 1, versions: 1, files: 7, ingests: 1 });
    await other.close();
  });
});

describe("what cannot be recorded", () => {
  test("waits while another job of the object is being recorded", async () => {
    office.busy = true;
    const manifestUrl = new StoredObject(office.store).addVersion();
    expect(await office.record({ manifestUrl })).toMatchObject({ kind: "snooze", delayMs: 500 });
    expect(office.counts()["objects"]).toBe(0);
  });

  test("waits while the database is locked, and goes on when it is free", async () => {
    const manifestUrl = new StoredObject(office.store).addVersion();
    await office.inventory();
    const other = new Database(office.file);
    other.exec("begin immediate");
    const why = expect.stringMatching(/^the inventory database is away: SQLITE_BUSY/);
    expect(await office.record({ manifestUrl })).toEqual({ kind: "snooze", delayMs: 5_000, why });
    expect(office.awayCount).toBe(1);
    other.exec("rollback");
    other.close();
    expect(await office.record({ manifestUrl })).toEqual(done);
  });

  test("fails when a local id is another object's, with nothing recorded", async () => {
    await office.record({ manifestUrl: new StoredObject(office.store).addVersion({ localIds: ["shelf 7"] }) });
    const before = office.counts();
    const ark = "ark:/99999/fk4other";
    const manifestUrl = new StoredObject(office.store, ark).addVersion({ ark, job: 2, localIds: ["shelf 7"] });
    const outcome = await office.record({ manifestUrl, ark, number: 2 });
    expect(outcome).toMatchObject({
      kind: "fail",
      code: "IDENTIFIER_CONFLICT",
      message: expect.stringContaining("shelf 7") as unknown,
    });
    expect(JSON.stringify(outcome)).not.toContain("fk4object"); // the other object may be another collection's
    expect(office.counts()).toEqual(before);
  });

  test("the same local id of another owner is another name", async () => {
    await office.record({ manifestUrl: new StoredObject(office.store).addVersion({ localIds: ["shelf 7"] }) });
    const ark = "ark:/99999/fk4other";
    const deposit = { ark, job: 2, localIds: ["shelf 7"], owner: "ark:/99999/fk4owner2" };
    const manifestUrl = new StoredObject(office.store, ark).addVersion(deposit);
    expect(await office.record({ manifestUrl, ark, number: 2 })).toEqual(done);
  });

  test("fails when the version number is recorded for another job", async () => {
    const object = new StoredObject(office.store);
    await office.record({ manifestUrl: object.addVersion() });
    rmSync(object.folder, { recursive: true });
    const manifestUrl = new StoredObject(office.store).addVersion({ job: 2 });
    expect(await office.record({ manifestUrl, number: 2 })).toMatchObject({ kind: "fail", code: "RECORD_FAILED" });
  });

  test("fails when nothing was stored, or something else", async () => {
    const manifestUrl = new StoredObject(office.store).addVersion();
    const failed = { kind: "fail", code: "RECORD_FAILED" };
    expect(await office.record({ manifestUrl: "" })).toMatchObject(failed);
    expect(await office.record({ manifestUrl, ark: null })).toMatchObject(failed);
    expect(await office.record({ manifestUrl, ark: "ark:/99999/fk4other" })).toMatchObject(failed);
    expect(await office.record({ manifestUrl, number: 2 })).toMatchObject(failed);
    expect(office.counts()["objects"]).toBe(0);
  });

  test("is tried again while the store does not show it", async () => {
    const object = new StoredObject(office.store);
    const manifestUrl = object.addVersion();
    rmSync(object.folder, { recursive: true });
    expect(await office.record({ manifestUrl })).toMatchObject({ kind: "retry", code: "RECORD_FAILED" });
  });
});

describe("a store that is not to be trusted", () => {
  test.each<[string, (object: StoredObject, url: string) => string]>([
    ["an inventory that its sidecar does not vouch for", (object) => object.writeInventory("{}", "another")],
    ["an inventory that is none", (object) => object.writeInventory("{}")],
    [
      "content outside the object",
      (object) => {
        const { inventory } = object;
        for (const digest of Object.keys(inventory.manifest))
          inventory.manifest[digest] = ["v1/content/../../../../secret"];
        return object.writeInventory(JSON.stringify(inventory));
      },
    ],
    ["a URL of another scheme", (_object, url) => url.replace("file:", "http:")],
    ["a URL of another file", (_object, url) => url.replace("/inventory.json", "/content/producer/hello.txt")],
  ])("%s is refused", async (_what, spoil) => {
    const object = new StoredObject(office.store);
    const manifestUrl = spoil(object, object.addVersion());
    expect(await office.record({ manifestUrl })).toMatchObject({ kind: "fail", code: "RECORD_FAILED" });
  });

  test("a version outside the storage root is not read, by whatever way", async () => {
    const outside = new StoredObject(join(office.root, "elsewhere"));
    const manifestUrl = outside.addVersion();
    mkdirSync(office.store);
    expect(await office.record({ manifestUrl })).toMatchObject({ kind: "fail" });
    symlinkSync(outside.folder, join(office.store, "link"));
    const linked = `file://${join(office.store, "link")}/v1/inventory.json`;
    expect(await office.record({ manifestUrl: linked })).toMatchObject({ kind: "fail" });
  });

  test("a version without its system files is refused", async () => {
    const object = new StoredObject(office.store);
    object.addVersion();
    const { inventory } = object;
    const state = inventory.versions["v1"]!.state;
    for (const [digest, paths] of Object.entries(state))
      if (paths[0] === "system/mrt-mom.txt") Reflect.deleteProperty(state, digest);
    const manifestUrl = object.writeInventory(JSON.stringify(inventory));
    expect(await office.record({ manifestUrl })).toMatchObject({
      kind: "fail",
      message: expect.stringContaining("mrt-mom.txt"),
    });
  });
});
