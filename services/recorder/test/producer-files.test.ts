/** What files of the producer's say about access and description, and where the auditor finds content, in either store. */
import { readFile } from "node:fs/promises";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { createEgress, type Egress, LOOPBACK, PUBLIC_ONLY } from "@sluice/safe-io";
import { type StorageServer, storageServer } from "@sluice/testkit";
import { parseDataUse } from "../src/stored/data-use.ts";
import { merrittReader } from "../src/stored/merritt-reader.ts";
import { addMerrittVersion, sha256 } from "./support/merritt-object.ts";
import { Office } from "./support/recording.ts";
import { ARK, StoredObject } from "./support/stored-object.ts";

let office: Office;
let storage: StorageServer;
let egress: Egress;
beforeEach(async () => {
  storage = await storageServer();
  egress = createEgress({ policy: { ...PUBLIC_ONLY, allow: LOOPBACK }, totalTimeoutMs: 2_000 });
  office = new Office();
});
afterEach(async () => {
  await office.close();
  await Promise.all([egress.close(), storage.close()]);
});

const done = { kind: "done", changes: {} };
const DATA_USE = "Title: Terms\nTerms: Cite us \\\n  always.\nAccept: optional\nPersistence: permanent\n";

/** Stores the files as the next version of the object, and says where it is. */
type Deposit = (job: number, files: Readonly<Record<string, string>>) => string;

function ocflStore(): Deposit {
  const object = new StoredObject(office.store);
  return (job, files) => object.addVersion({ job, files });
}

function merrittStore(): Deposit {
  office.reader = merrittReader({ base: storage.url, egress });
  return (job, files) => {
    const named = Object.entries(files).map(([name, text]) => [`producer/${name}`, text]);
    addMerrittVersion(storage, { job, files: Object.fromEntries(named) as Record<string, string> });
    return `${storage.url}/manifest/7777/${encodeURIComponent(ARK)}`;
  };
}

async function contentAt(url: string): Promise<Uint8Array> {
  if (url.startsWith("file:")) return readFile(new URL(url));
  const answer = await fetch(url.replace(/\?fixity=no$/, ""));
  return new Uint8Array(await answer.arrayBuffer());
}

describe.each([
  ["an OCFL store", ocflStore],
  ["Merritt's storage service", merrittStore],
])("a version in %s", (_store, open) => {
  let deposit: Deposit;
  beforeEach(() => {
    deposit = open();
  });
  const record = (number: number, files: Readonly<Record<string, string>>) =>
    office.record({ number, manifestUrl: deposit(number, files) });
  const embargoes = () => office.rows("select embargo_end_date from inv_embargoes");

  test("is under the embargo that it names, until a later one replaces or lifts it", async () => {
    const embargo = (text: string) => ({ "mrt-embargo.txt": `embargoEndDate: ${text}\n` });
    expect(await record(1, { "hello.txt": "hello", ...embargo("2099-06-30T00:00:00+02:00") })).toEqual(done);
    expect(embargoes()).toEqual([{ embargo_end_date: "2099-06-29T22:00:00Z" }]);
    expect(await record(2, { "more.txt": "more" })).toEqual(done); // the file is kept
    expect(embargoes()).toEqual([{ embargo_end_date: "2099-06-29T22:00:00Z" }]);
    expect(await record(3, embargo("2100-01-01T00:00:00"))).toEqual(done);
    expect(embargoes()).toEqual([{ embargo_end_date: "2100-01-01T00:00:00Z" }]);
    expect(await record(4, embargo("none"))).toEqual(done);
    expect(embargoes()).toEqual([]);
  });

  test("has its data use agreement, with its template", async () => {
    await record(1, { "mrt-dua.txt": DATA_USE, "mrt-dua-template.xml": "<dua/>" });
    expect(
      office.rows("select title, terms, template, accept_obligation, name_obligation, persistence from inv_duas"),
    ).toEqual([
      {
        title: "Terms",
        terms: "Cite us always.",
        template: "<dua/>",
        accept_obligation: "optional",
        name_obligation: "required",
        persistence: "permanent",
      },
    ]);
  });

  test("has its descriptions, as Merritt keeps them", async () => {
    const declaration = `<?xml version="1.0" encoding="UTF-8"?>\n`;
    const long = `<eml>${"x".repeat(1024 * 1024)}</eml>`;
    await record(1, {
      "mrt-dc.xml": `${declaration}<DublinCore/>`,
      "mrt-datacite.xml": `${declaration}<resource>é</resource>`,
      "mrt-eml.xml": long,
      "other.xml": "<other/>",
    });
    const columns = "filename, md_schema, version, serialization, value";
    const serialization = "xml";
    expect(office.rows(`select ${columns} from inv_metadatas order by filename`)).toEqual([
      {
        filename: "producer/mrt-datacite.xml",
        md_schema: "DataCite",
        version: "3.1",
        serialization,
        value: "<resource>é</resource>",
      },
      {
        filename: "producer/mrt-dc.xml",
        md_schema: "DublinCore",
        version: null,
        serialization,
        value: `${declaration}<DublinCore/>`,
      },
      // Too long for a row: the store has it.
      { filename: "producer/mrt-eml.xml", md_schema: "EML", version: null, serialization, value: null },
    ]);
  });

  test("puts what is new in it on the auditor's list, under addresses that lead to the content", async () => {
    await record(1, { "héllo 100% #1?.txt": "hello", "empty.txt": "" });
    await record(2, { "more.txt": "more" });
    const audits = office.rows<Record<"pathname" | "url" | "digest_value" | "status", string>>(
      "select pathname, url, digest_value, status from inv_audits a join inv_files f on f.id = a.inv_file_id where source = 'producer' order by a.id",
    );
    expect(audits.map(({ pathname }) => pathname).sort()).toEqual([
      "producer/empty.txt",
      "producer/héllo 100% #1?.txt",
      "producer/more.txt",
    ]);
    for (const { url, digest_value, status } of audits) {
      expect(status).toBe("unverified");
      expect([url, sha256(await contentAt(url))]).toEqual([url, digest_value]);
    }
  });

  test.each([
    ["an embargo that nobody can read", { "mrt-embargo.txt": "embargoEndDate: soon" }, /mrt-embargo\.txt.*soon/],
    ["an embargo of a megabyte", { "mrt-embargo.txt": "#".repeat(1024 * 1024 + 1) }, /mrt-embargo\.txt.*longer/],
    [
      "terms that nobody can read",
      { "mrt-dua.txt": "Title: T\nAccept: perhaps\n" },
      /mrt-dua\.txt: it has no Terms; Accept is none of required, optional, none/,
    ],
  ])("with %s is not recorded: it must not become open", async (_what, files, message) => {
    expect(await record(1, files)).toMatchObject({
      kind: "fail",
      code: "RECORD_FAILED",
      message: expect.stringMatching(message),
    });
    expect(office.counts()).toMatchObject({ objects: 0, audits: 0 });
  });
});

test("a description in another encoding is recorded by its name", async () => {
  merrittStore();
  const latin1 = Buffer.from(`<?xml version="1.0" encoding="ISO-8859-1"?><eml>é</eml>`, "latin1");
  addMerrittVersion(storage, { files: { "producer/mrt-eml.xml": latin1 } });
  const manifestUrl = `${storage.url}/manifest/7777/${encodeURIComponent(ARK)}`;
  expect(await office.record({ manifestUrl })).toEqual(done);
  expect(office.rows("select filename, value from inv_metadatas")).toEqual([
    { filename: "producer/mrt-eml.xml", value: null },
  ]);
});

test("a data use agreement that leaves something open asks for all of it, each time", () => {
  expect(parseDataUse("title: T\nTERMS: Cite us\nEmail: NONE\nNotification:\n", null)).toEqual({
    ok: true,
    dataUse: {
      identifier: null,
      title: "T",
      terms: "Cite us",
      template: null,
      accept: "required",
      name: "required",
      affiliation: "required",
      email: "none",
      applicability: "file",
      persistence: "request",
      notification: "",
    },
  });
  expect(parseDataUse("no label here", null)).toMatchObject({ ok: false });
});
