/** Every parser that reads strangers' bytes, with inputs that look like what it expects, and are not. */
import type { IncomingMessage } from "node:http";
import { Readable } from "node:stream";
import { finished } from "node:stream/promises";

import { JsonScanner } from "@sluice/http-api";
import {
  parseAnvl,
  parseDataCite,
  parseDublinCore,
  parseErc,
  parseManifest,
  parseProfile,
} from "@sluice/ingest-formats";
import { RequestParser } from "@sluice/job-doors";
import { applyModifiers, parseModifiers, parseRepeat } from "@sluice/job-queue";
import fc from "fast-check";

import type { IncomingFolder } from "../../services/batch-intake/src/files/incoming.ts";
import { receiveForm } from "../../services/batch-intake/src/http/receive-form.ts";
import { OutputReader } from "../../services/job-runner/src/sandbox/output.ts";
import { archives } from "./fuzz-archives.ts";
import { conversation } from "./fuzz-conversation.ts";
import { CHUNK, type FuzzTarget, inChunks, madeOf, repeats } from "./fuzz-inputs.ts";

const BLANKS = [" ", "\t", "\n", "\r\n", " \n", "a ", ": ", "a:\n", "|", " | ", "#", "%", ";", "\\"] as const;

function text(name: string, pieces: readonly string[], parse: (text: string) => unknown, beginning = ""): FuzzTarget {
  const run = (input: Buffer): unknown => parse(input.toString("utf8"));
  return { name, arbitrary: madeOf([...pieces, ...BLANKS]), run, grows: repeats(beginning, ...pieces, ...BLANKS) };
}

const XML = [
  "<",
  ">",
  "/>",
  "</a>",
  "<a>",
  "<a b='",
  "'",
  '"',
  "&amp;",
  "&#x41;",
  "&x;",
  "<!--",
  "-->",
  "<![CDATA[",
  "]]>",
];
const DC = ["<dc:title>", "</dc:title>", 'xmlns:dc="http://purl.org/dc/elements/1.1/"', "<?xml version='1.0'?>"];
const DATACITE = [
  "<resource xmlns='http://datacite.org/schema/kernel-4'>",
  "<titles>",
  "<title>",
  "</title>",
  "</titles>",
];
const CHECKM = [
  "#%checkm_0.7\n",
  "#%profile | http://uc3.cdlib.org/registry/ingest/manifest/mrt-ingest-manifest\n",
  "#%prefix | mrt: | http://merritt.cdlib.org/terms#\n",
  "#%fields | nfo:fileUrl | nfo:hashAlgorithm | nfo:hashValue | nfo:fileSize | nfo:fileName\n",
  "http://a.example/b | md5 | 00 | 1 | | b\n",
  "#%eof\n",
];
const MODIFIERS = [
  "+1 DAY",
  "-2 HOURS",
  "START OF MONTH",
  "WEEKDAY 0",
  ",",
  "FINISHED",
  "SCHEDULED",
  "+99999999999 YEARS",
];
const JSON_PIECES = ["{", "}", "[", "]", '"', ":", ",", '"profile"', '"a"', "\\", "\\u0061", "null", "1e9"];
const WIRE = [
  "CreateJob\r\n",
  "name: x\n",
  "Content-Length: 5\r\n",
  "Content-Length: 99999999999\n",
  "\r\n",
  "data: {\n",
];
const FORM = [
  "--b\r\n",
  '--b\r\nContent-Disposition: form-data; name="profile"\r\n\r\nx\r\n',
  '--b\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n',
  "Content-Type: text/plain\r\n",
  "\r\n",
  "--b--\r\n",
];

const TARGETS_OF_TEXT: readonly FuzzTarget[] = [
  text("ANVL", ["erc:\n", "who: Ada\n", "  more\n", "# no\n"], parseAnvl, "a: "),
  text("ERC", ["erc:\n", "who: Ada\n", "what: (:unas)\n", "when: 1843\n"], parseErc, "erc:\n"),
  text("Dublin Core", [...XML, ...DC], parseDublinCore, "<a>"),
  text("DataCite", [...XML, ...DATACITE], parseDataCite, "<resource>"),
  text("checkm", CHECKM, (given) => parseManifest(given, { kind: "object-manifest" }), CHECKM.slice(0, 4).join("")),
  text("profile", ["ProfileID: a\n", "Collection.1: ark:/1/2\n", "Priority: 9\n"], (given) => parseProfile(given)),
  text("SQLite modifiers", MODIFIERS, (given) => {
    const modifiers = parseModifiers(given);
    return [modifiers === null ? null : applyModifiers(0, modifiers), parseRepeat(given)];
  }),
];

const json: FuzzTarget = {
  name: "JSON bodies",
  arbitrary: fc.oneof(
    madeOf(JSON_PIECES),
    fc.json({ maxDepth: 8 }).map((given) => Buffer.from(given)),
  ),
  run(input) {
    const scanner = new JsonScanner({ maxValues: 1_000_000, maxDepth: 200 }, "profile");
    for (const chunk of inChunks(input, CHUNK)) if (scanner.scan(chunk) !== null) return null;
    const found = valueOf(input.toString("utf8"));
    // What the scope was judged by is what the submission says.
    if (
      isObject(found) &&
      typeof found["profile"] === "string" &&
      input.length < CHUNK &&
      scanner.found !== found["profile"]
    )
      throw new Error(`judged by ${scanner.found}, submitted for ${found["profile"]}`);
    return found;
  },
  grows: repeats('{"profile":', ...JSON_PIECES),
};

function valueOf(given: string): unknown {
  try {
    return JSON.parse(given) as unknown;
  } catch {
    return null;
  }
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const bedrock: FuzzTarget = {
  name: "Bedrock head and body",
  arbitrary: madeOf(WIRE),
  run(input) {
    const parser = new RequestParser();
    return inChunks(input, 7 + (input.length % CHUNK)).flatMap((chunk) => parser.push(chunk));
  },
  grows: repeats("CreateJob\r\nname: ", ...WIRE, ...BLANKS),
};

const output: FuzzTarget = {
  name: "handlers' output",
  arbitrary: madeOf(["J: {}\n", "J:", "\n", "mark\n", "é"]),
  run(input) {
    const reader = new OutputReader({ bytes: 10_000_000, lines: 1_000, lineBytes: 1_000 }, () => undefined);
    reader.begin("mark");
    // As a handler writes them that wants us to look at them often.
    for (const chunk of inChunks(input, 16)) reader.push(chunk);
    return reader.taken();
  },
  grows: repeats("", "J: {}\n", "\n", "x\n", "x", "é"),
};

const incoming = {
  receive: (_slot: number, body: Readable) =>
    finished(body.resume()).then(
      () => ({ ok: true, value: { bytes: 0, digests: {}, head: "" } }),
      () => ({ ok: false, error: { code: "CUT_OFF", message: "the file ended too early", retryable: false } }),
    ),
} as unknown as IncomingFolder;

/** What is repeated after what: within a head, a name, a field, a file, and what is nearly a boundary. */
const FIELD = '--b\r\nContent-Disposition: form-data; name="';
const FORM_GROWTH: readonly (readonly [string, string])[] = [
  ...["a", '\\"', ";", " ", "%41", '";a="'].map((piece) => [FIELD, piece] as const),
  ...["\r", "\n", "\r\n", "\r\n-", "\r\n--", "\r\n--c", "-", "--b", "a"].flatMap((piece) => [
    [`${FIELD}x"\r\n\r\n`, piece] as const,
    [`${FIELD}file"; filename="a"\r\n\r\n`, piece] as const,
    ["", piece] as const,
  ]),
  ["--b\r\n", "A: b\r\n"],
  ["--b\r\n", "A: b\r\n "],
  ["", `${FIELD}x"\r\n\r\ny\r\n`],
];

const multipart: FuzzTarget = {
  name: "multipart",
  arbitrary: madeOf(FORM),
  run(input) {
    const headers = { "content-type": "multipart/form-data; boundary=b" };
    // As a connection that ended before its form did: nothing may wait for more.
    const request = Object.assign(Readable.from(inChunks(input, CHUNK)), { headers, complete: false });
    return receiveForm(request as unknown as IncomingMessage, incoming, {
      limits: { fileBytes: 1_000_000_000, formBytes: 1_000_000_000, unnamedBytes: 1_000_000_000 },
      isNamed: () => true,
      refuses: () => null,
    });
  },
  grows: (bytes) => [
    ...repeats("", ...FORM)(bytes),
    ...FORM_GROWTH.flatMap(([start, piece]) => repeats(start, piece)(bytes)),
  ],
};

export const FUZZ_TARGETS: readonly FuzzTarget[] = [
  ...TARGETS_OF_TEXT,
  json,
  bedrock,
  conversation,
  output,
  multipart,
  archives,
];
