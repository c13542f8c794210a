/** What holds state of a fleet says of which, and a service looks at it before it works: every part, every verdict. */
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { openInventory } from "@sluice/inventory";
import type { FleetIdentity, FleetStamp } from "@sluice/queue-core";
import {
  baseConfig,
  EXIT,
  Service,
  silentLog,
  stampedFolder,
  stampedOcflRoot,
  type StampedPart,
} from "@sluice/stage-runtime";
import { makeTree, testZooKeeper, waitFor } from "@sluice/testkit";

const CLOCK = { nowMs: () => Date.now(), monotonicMs: () => performance.now() };

let connect: string;
let identity: FleetIdentity;
let root: string;
beforeAll(async () => {
  ({ connect } = await testZooKeeper());
  identity = await makeTree(connect);
  root = await mkdtemp(join(tmpdir(), "sluice-stamps-"));
});
afterAll(() => rm(root, { recursive: true, force: true }));

interface Opened {
  readonly part: StampedPart;
  /** Whether its users get answers. */
  readonly isOpen?: () => Promise<boolean>;
  close?(): Promise<void>;
}

let count = 0;
const freshFolder = (): string => join(root, String(++count));
const folder = (name: string) => (): Promise<Opened> =>
  Promise.resolve({ part: stampedFolder({ name, folder: freshFolder() }) });

async function sqlite(): Promise<Opened> {
  const inventory = await openInventory({ kind: "sqlite", file: join(freshFolder(), "i.db") }, { checked: "first" });
  const isOpen = async () => (await inventory.belongingOf("ark:/1/2")).kind === "none";
  return { part: inventory.stamp, isOpen, close: () => inventory.close() };
}

const PARTS: readonly (readonly [string, () => Promise<Opened>])[] = [
  ["the working folder", folder("the working folder")],
  ["the intake's journal", folder("the journal")],
  ["the journals of jobs", folder("the journals of jobs")],
  ["the store of jobs", folder("the store of jobs")],
  ["the OCFL storage root", () => Promise.resolve({ part: stampedOcflRoot(freshFolder()) })],
  ["the inventory in a file", sqlite],
];

type Case = readonly [string, (tree: FleetIdentity) => FleetStamp | null, "works" | "foreign" | "older"];
const CASES: readonly Case[] = [
  ["of the same fleet and epoch", ({ fleet, epoch }) => ({ fleet, epoch }), "works"],
  ["that holds nothing yet", () => null, "works"],
  ["of the epoch before a restore", ({ fleet, epoch }) => ({ fleet, epoch: epoch - 1 }), "works"],
  ["of another fleet", ({ epoch }) => ({ fleet: "another", epoch }), "foreign"],
  ["of a later epoch than the tree", ({ fleet, epoch }) => ({ fleet, epoch: epoch + 1 }), "older"],
];

async function judged(opened: Opened, stamp: FleetStamp | null, expected: Case[2]): Promise<void> {
  const { part, isOpen } = opened;
  if (stamp !== null) {
    await part.read();
    await part.write?.(stamp, null);
  }
  const config = baseConfig.parse({ ZOOKEEPER_CONNECT: connect, METRICS_PORT: "0", WORKER_ID: `w-${++count}` });
  const service = new Service(
    { service: "recorder", config, duties: [], stamped: () => [part] },
    { clock: CLOCK, random: Math.random, log: silentLog(), probe: () => undefined },
  );
  const ended = service.run();
  try {
    const url = await waitFor(() => service.opsUrl);
    const ask = async (path: string) => {
      const answer = await fetch(`${url}${path}`);
      return { status: answer.status, text: await answer.text() };
    };
    if (expected === "works") {
      await waitFor(async () => (await ask("/readyz")).status === 200, { what: "a service at work" });
      const { fleet, epoch } = identity;
      expect(await part.read()).toEqual({ kind: "read", stamp: { fleet, epoch } });
    } else {
      const metric = `sluice_tree_refused{why="${expected}"} 1`;
      await waitFor(async () => (await ask("/metrics")).text.includes(metric), { what: metric });
      const ready = await ask("/readyz?verbose");
      expect([ready.status, ready.text]).toEqual([503, expect.stringContaining(`belongs to fleet ${stamp!.fleet}`)]);
      expect((await ask("/livez")).status).toBe(200);
      expect(await part.read()).toEqual({ kind: "read", stamp });
    }
    if (isOpen !== undefined) expect(await isOpen()).toBe(expected === "works");
  } finally {
    service.ring();
    expect(await ended).toBe(EXIT.clean);
  }
}

describe.each(PARTS)("%s", (_name, open) => {
  test.each(CASES)("%s", async (_which, stampOf, expected) => {
    const opened = await open();
    await judged(opened, stampOf(identity), expected);
    await opened.close?.();
  });
});

test("services that stamp one folder at the same time leave one stamp, and nothing else", async () => {
  const place = freshFolder();
  const parts = Array.from({ length: 8 }, () => stampedFolder({ name: "the working folder", folder: place }));
  await Promise.all(parts.map(async (part, i) => part.write?.({ fleet: `fleet-${i}`, epoch: 1 }, null)));
  expect(await readdir(place)).toEqual(["fleet.json"]);
  const read = await Promise.all(parts.map((part) => part.read()));
  expect(new Set(read.map((each) => JSON.stringify(each))).size).toBe(1);
});

test("a storage root keeps to OCFL: the stamp is the configuration of a local extension", async () => {
  const place = freshFolder();
  await stampedOcflRoot(place).write?.({ fleet: "a", epoch: 1 }, null);
  expect(await readdir(place, { recursive: true })).toEqual([
    "extensions",
    "extensions/sluice-fleet",
    "extensions/sluice-fleet/config.json",
  ]);
});
