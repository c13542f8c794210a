import { describe, expect, test } from "@jest/globals";
import { parseErc, parseIngestFile } from "@sluice/ingest-formats";
import type { Job } from "@sluice/queue-core";
import { type Deposit, Laboratory, PROFILE, profilesOf } from "./support/deposit.ts";
import { validateRoot } from "./support/ocfl-validator/root-rules.ts";
import { changesOf, objectManifest, objectOf, storedVersion } from "./support/stored-version.ts";

const DC = (inner: string): string => `<DublinCore xmlns:dc="http://purl.org/dc/elements/1.1/">${inner}</DublinCore>`;
const DATACITE = `<resource xmlns="http://datacite.org/schema/kernel-4">
<creators><creator><creatorName>DataCite Who</creatorName></creator></creators>
<titles><title>DataCite What</title></titles><publicationYear>2001</publicationYear></resource>`;

const form = (values: Partial<NonNullable<Job["metadata"]>>): Job["metadata"] => ({
  erc_who: undefined,
  erc_what: undefined,
  erc_when: undefined,
  erc_where: undefined,
  ...values,
});

const processed = async (deposit: Deposit, profile = PROFILE) => {
  const laboratory = await Laboratory.open({ profiles: profilesOf(profile) });
  const job = laboratory.job(deposit);
  return { laboratory, job, attempt: await job.run() };
};

describe("who, what and when", () => {
  const everywhere = {
    "mrt-erc.txt": "erc:\nwho: ERC Who\nwhat: (:unas)\n",
    "mrt-datacite.xml": DATACITE,
    "mrt-dc.xml": DC("<dc:creator>DC Who</dc:creator><dc:title>DC What</dc:title><dc:date>1990</dc:date>"),
  };

  test("come from mrt-erc.txt, then mrt-datacite.xml, then the submission", async () => {
    const metadata = form({ erc_who: "Form Who", erc_what: "Form What", erc_when: "2026" });
    const { attempt } = await processed(objectOf(everywhere, { metadata }));
    expect(changesOf(attempt).metadata).toMatchObject({
      erc_who: "ERC Who",
      erc_what: "DataCite What",
      erc_when: "2001",
    });
  });

  test("mrt-dc.xml fills only what nobody else says", async () => {
    const files = { "mrt-dc.xml": everywhere["mrt-dc.xml"] };
    const { attempt } = await processed(objectOf(files, { metadata: form({ erc_who: "Form Who" }) }));
    expect(changesOf(attempt).metadata).toMatchObject({ erc_who: "Form Who", erc_what: "DC What", erc_when: "1990" });
  });

  test("are cut at 3500 characters, never inside one", async () => {
    const long = `${"x".repeat(3_499)}😀tail`;
    const { attempt } = await processed(objectOf({ "a.txt": "a" }, { metadata: form({ erc_what: long }) }));
    expect(changesOf(attempt).metadata!.erc_what).toBe("x".repeat(3_499));
  });

  test.each([
    ["mrt-erc.txt", "no label here"],
    ["mrt-datacite.xml", "<resource><titles>"],
    ["mrt-dc.xml", '<!DOCTYPE d [<!ENTITY a "b">]><d>&a;</d>'],
  ])("an unreadable %s says nothing, and is stored as it is", async (name, text) => {
    const { attempt } = await processed(objectOf({ [name]: text }, { metadata: form({ erc_who: "The Form" }) }));
    expect(changesOf(attempt).metadata).toMatchObject({ erc_who: "The Form" });
    expect(storedVersion(attempt).text(`producer/${name}`)).toBe(text);
  });

  test("system/mrt-dc.xml keeps the producer's and the form's elements beside ours", async () => {
    const files = {
      "mrt-dc.xml": DC("<dc:subject>one</dc:subject><dc:subject>two</dc:subject><dc:type>text</dc:type>"),
    };
    const configuration = { DCpublisher: "CDL", DCsubject: "two" };
    const { attempt } = await processed(objectOf(files, { configuration, metadata: form({ erc_what: "T" }) }));
    const text = storedVersion(attempt).text("system/mrt-dc.xml");
    const elements = [...text.matchAll(/<dc:(\w+)>([^<]*)</g)].map(([, name, value]) => `${name}=${value}`);
    expect(elements.filter((element) => !element.startsWith("identifier"))).toEqual([
      "publisher=CDL",
      "subject=one",
      "subject=two",
      "title=T",
      "type=text",
    ]);
  });
});

describe("identifiers of a deposit", () => {
  test("a name given five times, in two spellings, is two local ids", async () => {
    const identifiers = { local_id: ["localid;localid;localid;localidtwo;localidtwo"] };
    const { attempt } = await processed(objectOf({ "a.txt": "a" }, { identifiers }));
    expect(changesOf(attempt).identifiers!.local_id).toEqual(["localid", "localidtwo"]);
    const erc = parseErc(storedVersion(attempt).text("system/mrt-erc.txt"));
    expect(erc).toMatchObject({ value: { localIds: ["localid", "localidtwo"] } });
  });

  test("mrt-erc.txt gives the primary id; its local ids come after those of the form", async () => {
    const erc =
      "erc:\nwho: The File\nwhere: ark:/99999/dummy\nwhere: localid; localidtwo\nwhere: localidthree; localidfour\n";
    const identifiers = { primary_id: "ark:/99999/other", local_id: ["localidfour", "localidfive"] };
    const { attempt } = await processed(objectOf({ "mrt-erc.txt": erc }, { identifiers }));
    expect(changesOf(attempt).identifiers).toEqual({
      primary_id: "ark:/99999/dummy",
      local_id: ["localidfour", "localidfive", "localid", "localidtwo", "localidthree"],
    });
  });

  test("dc:identifier is a local id, unless the profile says otherwise", async () => {
    const deposit = objectOf(
      { "mrt-dc.xml": DC("<dc:identifier>from dc</dc:identifier>") },
      { identifiers: { local_id: ["from form"] } },
    );
    expect(changesOf((await processed(deposit)).attempt).identifiers!.local_id).toEqual(["from form", "from dc"]);
    const silent = await processed(deposit, `${PROFILE}SuppressDublinCoreLocalID: true\n`);
    expect(changesOf(silent.attempt).identifiers!.local_id).toEqual(["from form"]);
  });

  test("a demonstration's profile makes a supplied primary id a local id, in every run", async () => {
    const demo = PROFILE.replace("library_content", "demo_library_content");
    const deposit = objectOf(
      { "mrt-erc.txt": "erc:\nwhere: ark:/99999/fk4erc\n" },
      { configuration: { profile_name: "demo_library_content" }, identifiers: { primary_id: "ark:/99999/fk4given" } },
    );
    const { job, attempt, laboratory } = await processed(deposit, demo);
    const { primary_id: ark, local_id: localIds } = changesOf(attempt).identifiers!;
    expect(laboratory.minter.minted).toEqual([ark]);
    expect(localIds).toEqual(["ark:/99999/fk4erc"]);
    expect(await job.run()).toEqual(attempt);
    expect(laboratory.minter.minted).toEqual([ark]);
  });

  test.each([
    ["too many", Array.from({ length: 101 }, (_, i) => `id-${i}`).join("; ")],
    ["too long", "x".repeat(256)],
    ["with a hidden line end", "a%0Ab"],
  ])("local ids of a file that are %s fail the job before any lock is taken", async (_what, where) => {
    const { attempt, laboratory } = await processed(objectOf({ "mrt-erc.txt": `erc:\nwhere: ${where}\n` }));
    expect(attempt).toMatchObject({ kind: "fail", code: "IDENTIFIER_CONFLICT" });
    expect(laboratory.locked).toEqual([]);
  });
});

describe("mrt-embargo.txt", () => {
  test.each(["embargoEndDate: 2030-01-01T00:00:00Z\n", "embargoEndDate: none\n"])("%j is stored", async (text) => {
    const { attempt } = await processed(objectOf({ "mrt-embargo.txt": text }));
    expect(storedVersion(attempt).text("producer/mrt-embargo.txt")).toBe(text);
  });

  test("that cannot be read fails the job: nothing becomes open by mistake", async () => {
    const { attempt, laboratory } = await processed(objectOf({ "mrt-embargo.txt": "embargoEndDate: soon\n" }));
    const message = expect.stringContaining("mrt-embargo.txt");
    expect(attempt).toMatchObject({ kind: "fail", code: "METADATA_INVALID", message });
    expect(validateRoot(laboratory.store).objects.size).toBe(0);
    expect(laboratory.minter.minted).toEqual([]);
  });
});

test.each(["mrt-dua.txt", "mrt-eml.xml", "mrt-dataone-manifest.txt"])("%s is stored as it is", async (name) => {
  const { attempt } = await processed(objectOf({ [name]: "whatever <it> says" }));
  expect(storedVersion(attempt).text(`producer/${name}`)).toBe("whatever <it> says");
});

describe("the package's own mrt-manifest.txt", () => {
  const manifest = (rows: readonly string[]): string =>
    objectManifest(rows).replace("ingest/manifest/mrt-ingest-manifest", "store/manifest/mrt-object-manifest");
  const MD5_OF_A = "0cc175b9c0f1b6a831c399e269772661";
  const run = async (rows: readonly string[]) =>
    (await processed(objectOf({ "a.txt": "a", "mrt-manifest.txt": manifest(rows) }))).attempt;

  test("is stored when it agrees, in whatever algorithm", async () => {
    expect(await run([`a.txt | MD5 | ${MD5_OF_A} | 1 | |`])).toMatchObject({ kind: "done" });
  });

  test.each<[string, string, readonly string[]]>([
    ["another digest", "DIGEST_MISMATCH", [`a.txt | md5 | ${"0".repeat(32)} | 1 | |`]],
    ["another size", "SIZE_MISMATCH", [`a.txt | md5 | ${MD5_OF_A} | 2 | |`]],
    ["a file that is not there", "METADATA_INVALID", ["a.txt | | | | |", "b.txt | | | | |"]],
    ["not all files", "METADATA_INVALID", ["mrt-manifest.txt | | | | |"]],
    ["nothing that can be read", "METADATA_INVALID", ["a.txt | md9 | 00 | 1 | |"]],
  ])("fails the job when it names %s", async (_what, code, rows) => {
    expect(await run(rows)).toMatchObject({ kind: "fail", code });
  });
});

test("mrt-ingest.txt says which ids were given and which was assigned", async () => {
  const { attempt } = await processed(objectOf({ "a.txt": "a" }, { identifiers: { local_id: ["shelf 7"] } }));
  const ingest = parseIngestFile(storedVersion(attempt).text("system/mrt-ingest.txt"));
  expect(ingest).toMatchObject({
    value: { localIdentifier: "shelf 7", assignedIdentifier: changesOf(attempt).identifiers!.primary_id },
  });
});
