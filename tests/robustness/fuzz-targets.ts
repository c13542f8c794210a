/** Every parser that reads strangers' bytes, with inputs that look like what it expects, and are not. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import type { IncomingMessage } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { finished } from "node:stream/promises";
import { gzipSync } from "node:zlib";

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
import { ContainedFolder, unpackTo } from "@sluice/safe-io";
import fc from "fast-check";

import type { IncomingFolder } from "../../services/batch-intake/src/files/incoming.ts";
import { receiveForm } from "../../services/batch-intake/src/http/receive-form.ts";
import { OutputReader } from "../../services/job-runner/src/sandbox/output.ts";

export interface FuzzTarget {
  readonly name: string;
  readonly arbitrary: fc.Arbitrary<Buffer>;
  /** Answers or refuses. Whatever it throws is a finding. */
  readonly run: (input: Buffer) => unknown;
  /** What is repeated to see that twice the bytes take about twice the time; absent = the cost is the disk's. */
  readonly grows?: (bytes: number) => readonly Buffer[];
}

/** Pieces of the format, strung together with pieces of anything. */
function madeOf(pieces: readonly string[]): fc.Arbitrary<Buffer> {
  const piece = fc.oneof(
    { weight: 6, arbitrary: fc.constantFrom(...pieces).map((text) => Buffer.from(text)) },
    { weight: 1, arbitrary: fc.string({ unit: "grapheme", maxLength: 20 }).map((text) => Buffer.from(text)) },
    { weight: 1, arbitrary: fc.uint8Array({ maxLength: 20 }).map((bytes) => Buffer.from(bytes)) },
  );
  return fc.array(piece, { maxLength: 60 }).map((parts) => Buffer.concat(parts));
}

/** One piece over and over, alone and after a beginning: what overlapping repeats are slow with. */
const repeats =
  (beginning: string, ...pieces: readonly string[]) =>
  (bytes: number): readonly Buffer[] =>
    pieces.map((piece) => Buffer.from(beginning + piece.repeat(Math.ceil(bytes / piece.length))));

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

const inChunks = (input: Buffer, size: number): readonly Buffer[] =>
  Array.from({ length: Math.ceil(input.length / size) }, (_, at) => input.subarray(at * size, (at + 1) * size));

const CHUNK = 4_096;

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
    for (const chunk of inChunks(input, CHUNK)) reader.push(chunk);
    return reader.taken();
  },
  grows: repeats("", "J: {}\n", "\n", "x\n"),
};

const incoming = {
  receive: (_slot: number, body: Readable) =>
    finished(body.resume()).then(
      () => ({ ok: true, value: { bytes: 0, digests: {}, head: "" } }),
      () => ({ ok: false, error: { code: "CUT_OFF", message: "the file ended too early", retryable: false } }),
    ),
} as unknown as IncomingFolder;

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
};

/** Heads of tar that promise more, or elsewhere, than is there. */
const tarHead = fc
  .record({
    name: fc.constantFrom("a", "../a", "/a", "d/".repeat(40), "a/b", ""),
    size: fc.constantFrom("00000000001\0", "77777777777\0", "-1\0", "99999999999\0"),
    type: fc.constantFrom("0", "1", "2", "5", "L", "x", "g", "S"),
  })
  .map(({ name, size, type }) => {
    const head = Buffer.alloc(1_024);
    head.write(name, 0, 100, "latin1");
    head.write(size, 124, 12, "latin1");
    head.write("        ", 148, "latin1");
    head.write(type, 156, "latin1");
    head.write("ustar\0" + "00", 257, "latin1");
    const sum = head.subarray(0, 512).reduce((total, byte) => total + byte, 0);
    head.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148, "latin1");
    return head;
  });
const zipParts = [
  "PK\x03\x04",
  "PK\x01\x02",
  "PK\x05\x06",
  "\x14\x00\x00\x00",
  "\x08\x00",
  "\x00".repeat(16),
  "a/../b",
  "\xff\xff\xff\xff",
];

const archives: FuzzTarget = {
  name: "archives",
  arbitrary: fc.oneof(
    fc.array(tarHead, { maxLength: 6 }).map((heads) => Buffer.concat(heads)),
    fc.array(tarHead, { maxLength: 6 }).map((heads) => gzipSync(Buffer.concat(heads))),
    fc.array(fc.constantFrom(...zipParts), { maxLength: 30 }).map((parts) => Buffer.from(parts.join(""), "latin1")),
    fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.concat([Buffer.from("BZh91AY&SY"), bytes])),
  ),
  async run(input) {
    const root = await mkdtemp(join(tmpdir(), "sluice-fuzz-"));
    try {
      await writeFile(join(root, "it"), input);
      const from = await ContainedFolder.open(root);
      if (!from.ok) throw new Error(from.error.message);
      const target = await from.value.sub("out");
      if (!target.ok) throw new Error(target.error.message);
      return await unpackTo(from.value, "it", target.value, { limits: { maxBytes: 1_000_000 } });
    } finally {
      await rm(root, { recursive: true, force: true });
    }
  },
};

export const FUZZ_TARGETS: readonly FuzzTarget[] = [...TARGETS_OF_TEXT, json, bedrock, output, multipart, archives];
