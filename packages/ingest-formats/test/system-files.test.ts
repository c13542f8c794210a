import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";

import {
  INGEST_FILE_KEYS,
  parseAnvl,
  parseErc,
  parseIngestFile,
  parseMom,
  printAnvl,
  printDublinCore,
  printErc,
  printIngestFile,
  printMembership,
  printMom,
  printOwner,
} from "../src/index.ts";

const word = fc.stringMatching(/^[A-Za-z][A-Za-z0-9 :%-]{0,10}[A-Za-z0-9]$/);
const value = fc.string({ unit: "binary", maxLength: 30 }).map((text) => text.trim());

describe("ANVL", () => {
  test("is read back as it was printed, whatever the values are", () => {
    fc.assert(
      fc.property(fc.array(fc.record({ label: word, value })), (elements) => {
        expect(parseAnvl(printAnvl(elements))).toEqual({ ok: true, value: elements });
      }),
    );
  });

  test("leaves a per cent sign alone that means itself", () => {
    expect(printAnvl([{ label: "what", value: "100 % wool, 50%" }])).toBe("what:\t100 % wool, 50%\n");
  });

  test("cannot be made to hold a second element by a value", () => {
    expect(printAnvl([{ label: "what", value: "x\nwho: somebody else\r" }])).toBe("what:\tx%0Awho: somebody else\n");
  });

  test("joins continued lines and skips comments", () => {
    expect(parseAnvl("# note\nwho: A\n  B\n\nwhat:\tC\r\n")).toEqual({
      ok: true,
      value: [
        { label: "who", value: "A B" },
        { label: "what", value: "C" },
      ],
    });
  });

  test("names the line that has no label", () => {
    expect(parseAnvl("who: A\nnothing here\n")).toMatchObject({ ok: false, problems: [{ line: 2 }] });
  });
});

describe("mrt-erc.txt", () => {
  const text =
    "erc:\t\nwho:\tMerritt Team\nwhat:\tHello File\nwhen:\t2022\nwhere:\tark:/7777/7777\nwhere:\tmy-local-id\n";
  const erc = {
    who: "Merritt Team",
    what: "Hello File",
    when: "2022",
    primaryId: "ark:/7777/7777",
    localIds: ["my-local-id"],
  };

  test("looks like Merritt's", () => expect(printErc(erc)).toBe(text));

  test("is read back", () => expect(parseErc(text)).toEqual({ ok: true, value: erc }));

  test("says (:unas) for what is unknown, and reads it as absent", () => {
    expect(printErc({ localIds: [] })).toBe(
      "erc:\t\nwho:\t(:unas)\nwhat:\t(:unas)\nwhen:\t(:unas)\nwhere:\t(:unas)\nwhere:\t(:unas)\n",
    );
    expect(parseErc(printErc({ localIds: [] }))).toEqual({ ok: true, value: { localIds: [] } });
  });

  test("takes the first ARK as primary id and all other places as local ids", () => {
    const read = parseErc(
      "erc:\nwhere: localid\nwhere: ark:/99999/dummy\nwhere: localidtwo; localidthree\nwhere: localid\n",
    );
    expect(read).toEqual({
      ok: true,
      value: { primaryId: "ark:/99999/dummy", localIds: ["localid", "localidtwo", "localidthree"] },
    });
  });

  test("without its first line is refused", () => {
    expect(parseErc("who: me\n")).toMatchObject({ ok: false, problems: [{ column: "erc" }] });
  });
});

test("mrt-mom.txt looks like Merritt's and is read back", () => {
  const mom = {
    type: "MRT-curatorial",
    role: "MRT-content",
    localIds: ["my-local-id"],
    primaryId: "ark:/7777/7777",
  } as const;
  const text =
    "type:\t\tMRT-curatorial\nrole:\t\tMRT-content\nlocalIdentifier:\tmy-local-id\nprimaryIdentifier:\tark:/7777/7777\n";
  expect(printMom(mom)).toBe(text);
  expect(parseMom(text)).toEqual({ ok: true, value: mom });
});

test("mrt-mom.txt tells an aggregate and says (:unas) without local ids", () => {
  const mom = {
    type: "MRT-system",
    role: "MRT-class",
    aggregate: "MRT-owner",
    localIds: [],
    primaryId: "ark:/1/b",
  } as const;
  expect(printMom(mom)).toContain("aggregate:\tMRT-owner\nlocalIdentifier:\t(:unas)\n");
  expect(parseMom(printMom(mom))).toEqual({ ok: true, value: mom });
});

test("owner and membership are ARKs, the latter one a line", () => {
  expect(printOwner("ark:/99999/owner")).toBe("ark:/99999/owner");
  expect(printMembership(["ark:/99999/a", "ark:/99999/b"])).toBe("ark:/99999/a\nark:/99999/b\n");
});

describe("mrt-ingest.txt", () => {
  test("has Merritt's lines in Merritt's order, checks only where they ran", () => {
    const lines = printIngestFile({ ingest: "Sluice", batch: "bid-1", type: "file", containerValidity: "n/a" }).split(
      "\n",
    );
    expect(lines.slice(0, 7)).toEqual([
      "ingest:\tSluice",
      "submissionDate:\t(:unas)",
      "batch:\tbid-1",
      "job:\t(:unas)",
      "userAgent:\t(:unas)",
      "file:\t(:unas)",
      "type:\tfile",
    ]);
    expect(lines.slice(-6)).toEqual([
      "note:\t(:unas)",
      "containerValidity:\tn/a",
      "assignedIdentifier:\t(:unas)",
      "retrievedIdentifier:\t(:unas)",
      "handlers:\t(:unas)",
      "",
    ]);
  });

  test("is read back as it was printed", () => {
    const filled = value.filter((text) => text !== "" && text !== "(:unas)");
    const record = fc.record(Object.fromEntries(INGEST_FILE_KEYS.map((key) => [key, filled])), { requiredKeys: [] });
    fc.assert(
      fc.property(record, (file) => {
        expect(parseIngestFile(printIngestFile(file))).toEqual({ ok: true, value: { ...file } });
      }),
    );
  });
});

describe("mrt-dc.xml", () => {
  test("repeats lists, leaves out what is empty, escapes markup and drops what XML cannot hold", () => {
    expect(printDublinCore({ title: `<b> & "c"\u0000\uD800`, subject: "one; two;", publisher: " " })).toBe(
      `<?xml version="1.0" encoding="UTF-8"?>
<DublinCore xmlns:dc="http://purl.org/dc/elements/1.1/">
        <dc:subject>one</dc:subject>
        <dc:subject>two</dc:subject>
        <dc:title>&lt;b&gt; &amp; &quot;c&quot;</dc:title>
</DublinCore>
`,
    );
  });

  test("keeps characters beyond the basic plane", () => {
    expect(printDublinCore({ title: "𝄞 🜂" })).toContain("<dc:title>𝄞 🜂</dc:title>");
  });
});
