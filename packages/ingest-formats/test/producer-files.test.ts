import { describe, expect, test } from "@jest/globals";
import { mergeDublinCore, parseDataCite, parseDeleteList, parseDublinCore, parseEmbargo } from "../src/index.ts";

const DC = "http://purl.org/dc/elements/1.1/";

describe("a producer's mrt-dc.xml", () => {
  test("is read under any prefix and any root, repeated elements joined", () => {
    const text = `<?xml version="1.0"?>
<record xmlns:x="${DC}" xmlns="urn:other"><x:title>A &amp; B</x:title><title>not this</title>
<x:subject>one</x:subject><x:subject><![CDATA[<two>]]></x:subject><x:creator>(:unas)</x:creator><x:date/></record>`;
    expect(parseDublinCore(text)).toEqual({ ok: true, value: { title: "A & B", subject: "one; <two>" } });
  });

  test.each([
    ["cut off", `<dc xmlns:dc="${DC}"><dc:title>A`],
    ["an undeclared prefix", "<DublinCore><dc:title>A</dc:title></DublinCore>"],
    ["an entity of its own", `<!DOCTYPE d [<!ENTITY a "aaaa">]><d>&a;</d>`],
    ["a file of the server's", `<!DOCTYPE d [<!ENTITY a SYSTEM "file:///etc/passwd">]><d>&a;</d>`],
    ["too deep", "<a>".repeat(100) + "</a>".repeat(100)],
    ["no XML at all", "title: A"],
  ])("is refused when it is %s, with the line", (_what, text) => {
    expect(parseDublinCore(text)).toMatchObject({ ok: false, problems: [{ code: "XML_MALFORMED", line: 1 }] });
  });

  test("adds up with the form's elements, none of them twice", () => {
    const merged = mergeDublinCore({ title: "A", subject: "one; two" }, { subject: "two", type: "text", title: "B" });
    expect(merged).toEqual({ title: "A; B", subject: "one; two", type: "text" });
  });
});

describe("a producer's mrt-datacite.xml", () => {
  const record = (titles: string): string => `<resource xmlns="http://datacite.org/schema/kernel-4">
  <creators><creator><creatorName>Doe, Jane</creatorName></creator><creator><creatorName>Roe, R.</creatorName></creator></creators>
  <titles>${titles}</titles><publicationYear>2019</publicationYear></resource>`;

  test("says who, what and when", () => {
    expect(parseDataCite(record('<title titleType="Subtitle">Sub</title><title>Main</title>'))).toEqual({
      ok: true,
      value: { who: "Doe, Jane; Roe, R.", what: "Main", when: "2019" },
    });
    expect(parseDataCite(record('<title titleType="Subtitle">Sub</title>'))).toMatchObject({ value: { what: "Sub" } });
  });

  test("is refused when it is something else", () => {
    expect(parseDataCite("<record/>")).toMatchObject({ ok: false, problems: [{ code: "DATACITE_ROOT_MISSING" }] });
  });
});

describe("mrt-embargo.txt", () => {
  test.each([
    ["embargoEndDate: 2027-12-31T00:00:00Z", "2027-12-31T00:00:00Z"],
    ["EmbargoEndDate:\t2027-12-31T23:59:59.5-08:00\r\n", "2027-12-31T23:59:59.5-08:00"],
    ["# note\nembargoEndDate: 2028-02-29T00:00:00", "2028-02-29T00:00:00"],
    ["embargoEndDate: NONE", null],
  ])("%j ends at %s", (text, endDate) => {
    expect(parseEmbargo(text)).toEqual({ ok: true, value: { endDate } });
  });

  test.each([
    "",
    "embargo: none",
    "embargoEndDate:",
    "embargoEndDate: 2027-12-31",
    "embargoEndDate: 2027-02-30T00:00:00Z",
    "embargoEndDate: 2027-12-31T25:00:00Z",
    "embargoEndDate: someday",
    "embargoEndDate: none\nembargoEndDate: 2027-12-31T00:00:00Z",
  ])("%j is refused", (text) => {
    expect(parseEmbargo(text)).toMatchObject({ ok: false, problems: [{ column: "embargoEndDate" }] });
  });
});

test("mrt-delete.txt names producer files, with or without their folder, each once", () => {
  expect(parseDeleteList("\uFEFFa.txt\r\nproducer/b/c.txt\n\n a \nproducer/a.txt\n  \n")).toEqual([
    "producer/a.txt",
    "producer/b/c.txt",
    "producer/ a ",
  ]);
});
