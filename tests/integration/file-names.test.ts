/** Names that break things: stored byte for byte or refused by name, and never anywhere but in the job's folder. */
import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { paxName, tarByHand, zipByHand } from "../../packages/safe-io/test/evil-archives.ts";
import { type Deposits, openDeposits, storedFiles, type Verdict } from "../support/deposits.ts";

/** In every name that must not get out: found nowhere afterwards. */
const MARK = `escaped-${randomBytes(6).toString("hex")}`;

const STORED = [
  ...'with space.txt|100%.txt|%.txt|a+b.txt|%2e%2e|%2e%2e%2fup.txt|%00.txt|...|-rf|~|$HOME|`id`|a;b&c.txt|\'"quoted".txt'.split(
    "|",
  ),
  "😀 👩‍👩‍👧.txt",
  "שלום/עולם.txt",
  "cafe\u0301.txt",
  "caf\u00e9.txt",
  "CAF\u00c9.txt",
  "\u202egpj.exe",
  "no-break\u00a0space.txt",
  "deep/er/and/deeper.txt",
  `${"é".repeat(127)}x`,
  "con.txt",
  ".hidden",
];
/** A manifest is lines with columns; a container can hold these too. */
const STORED_IN_CONTAINERS = [...STORED, "pipe|.txt", " leading", "trailing ", "trailing.", "#%eof"];

const REFUSED = [
  `../${MARK}`,
  `../../../../../../../../${MARK}`,
  `a/../../${MARK}`,
  `/tmp/${MARK}`,
  `C:/${MARK}`,
  `..\\${MARK}`,
  `a//${MARK}`,
  `./../${MARK}`,
  `${MARK}/..`,
  `.sluice-tmp-${MARK}`,
  `${MARK}${"x".repeat(300)}`,
  `${MARK}\u0000.txt`,
  `${MARK}\u0007.txt`,
];

let deposits: Deposits;
let before: readonly string[];
beforeAll(async () => {
  deposits = await openDeposits();
  before = await surroundings();
});
afterAll(() => deposits.close());

/** The fleet's own folder, without what is made and removed all the time. */
async function surroundings(): Promise<readonly string[]> {
  const names = await readdir(deposits.fleet.dataDir);
  return names.filter((name) => !name.startsWith("inventory.db")).sort();
}

async function nothingEscaped(): Promise<void> {
  expect(await surroundings()).toEqual(before);
  const everywhere = await readdir(deposits.fleet.dataDir, { recursive: true });
  expect(everywhere.filter((path) => path.includes(MARK) && !path.includes(".claim-"))).toEqual([]);
  for (let folder = deposits.fleet.dataDir; folder !== dirname(folder); folder = dirname(folder))
    expect(existsSync(join(folder, MARK))).toBe(false);
  expect((await readdir(tmpdir())).filter((name) => name.includes(MARK))).toEqual([]);
}

const contentOf = (name: string): string => `content of ${name}`;

function manifestOf(path: string, names: readonly string[]): string {
  const rows = names.map((name, i) => {
    const url = deposits.serve(`${path}/${i}`, contentOf(name));
    return `${url} | | | ${Buffer.byteLength(contentOf(name))} | | ${name} | text/plain`;
  });
  const profile = "#%profile | http://uc3.cdlib.org/registry/ingest/manifest/mrt-ingest-manifest";
  return ["#%checkm_0.7", profile, ...rows, "#%eof"].join("\n");
}

async function submitManifest(path: string, names: readonly string[]): Promise<Verdict> {
  const payload_url = deposits.serve(`${path}.checkm`, manifestOf(path, names));
  return deposits.verdict(await deposits.submit({ payload_url, type: "object-manifest" }));
}

async function submitContainer(path: string, bytes: Buffer): Promise<Verdict> {
  const payload_url = deposits.serve(path, bytes);
  return deposits.verdict(await deposits.submit({ payload_url, type: "container" }));
}

const zipOf = (names: readonly string[]): Buffer =>
  zipByHand(names.map((name) => ({ name, content: contentOf(name) })));
/** Names in extended headers, which are as long as they like. */
const tarOf = (names: readonly string[]): Buffer =>
  tarByHand(names.flatMap((name) => [paxName(name), { name: "short", content: contentOf(name) }]));

async function expectStored({ status, message, jobs }: Verdict, names: readonly string[]): Promise<void> {
  expect([status, message]).toEqual(["Completed", ""]);
  const stored = await storedFiles(jobs[0]);
  expect([...stored.keys()].sort()).toEqual([...names].sort());
  for (const name of names) expect(stored.get(name)?.toString("utf8")).toBe(contentOf(name));
}

describe("names that are stored byte for byte", () => {
  test("from an object manifest", async () => {
    await expectStored(await submitManifest("/stored", STORED), STORED);
  });

  test.each([
    ["zip", zipOf],
    ["tar", tarOf],
  ])("from a %s", async (kind, make) => {
    await expectStored(await submitContainer(`/stored.${kind}`, make(STORED_IN_CONTAINERS)), STORED_IN_CONTAINERS);
  });
});

describe("names that are refused, with the row or the name told", () => {
  /** As it is shown: in quotes, and the beginning of long ones is enough. */
  const shown = (name: string): string => JSON.stringify(name.slice(0, 60)).slice(1, -1);

  test("from an object manifest", async () => {
    const verdicts = await Promise.all(REFUSED.map((name, i) => submitManifest(`/refused/${i}`, ["good.txt", name])));
    for (const [i, { status, message }] of verdicts.entries()) {
      const name = REFUSED[i]!;
      expect([name, status]).toEqual([name, "Failed"]);
      expect(message).toMatch(/^(NAME_REFUSED|MANIFEST_CORRUPT): /);
      expect([message, message.includes("line 4") || message.includes(shown(name))]).toEqual([message, true]);
    }
    await nothingEscaped();
  });

  test.each([
    ["zip", zipOf],
    ["tar", tarOf],
  ])("from a %s", async (kind, make) => {
    const verdicts = await Promise.all(
      REFUSED.map((name, i) => submitContainer(`/refused-${i}.${kind}`, make(["good.txt", name]))),
    );
    for (const [i, { status, message }] of verdicts.entries()) {
      const name = REFUSED[i]!.replace(/^\.\//, ""); // which says nothing, and is not shown
      expect([name, status]).toEqual([name, "Failed"]);
      expect(message).toMatch(/^NAME_REFUSED: /);
      expect([message, message.includes(shown(name))]).toEqual([message, true]);
    }
    await nothingEscaped();
  });
});
