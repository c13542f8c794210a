/** The journal of an epoch before a restore goes on in the new one: each record once, whichever step the process dies at. */
import { access, mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { batchFolder, batchId, type BatchId, type BatchPlace, batchUuidFromKey } from "@sluice/queue-core";
import { silentLog } from "@sluice/stage-runtime";
import { systemClock } from "@sluice/zookeeper";
import type { JournaledUpload } from "../src/journal/entry.ts";
import { ingest, type Ingested } from "../src/journal/ingest.ts";
import { entryOf } from "../src/journal/backlog.ts";
import { type OpenBacklog, openBacklog } from "../src/journal/open-backlog.ts";
import { makeCleanups, submission, temporaryFolder } from "./support.ts";

const cleanups = makeCleanups();
afterEach(() => cleanups.run());

const UUID = batchUuidFromKey("ada", "key");
/** Reserved in the history that was lost. */
const OLD: BatchPlace & { readonly fleet: string } = { batchId: batchId(7), batchEpoch: 100, fleet: "before" };

let root: string;
/** The restored tree: what the snapshot had, and what was made since. */
let tree: { readonly batches: Map<string, BatchId>; readonly taken: Set<BatchId>; next: number };
let opened: OpenBacklog;
beforeEach(async () => {
  root = await temporaryFolder(cleanups);
  tree = { batches: new Map(), taken: new Set(), next: 1_000_000 };
  opened = await open();
  cleanups.add(() => opened.journal.close());
});

const open = (): Promise<OpenBacklog> =>
  openBacklog(
    {
      JOURNAL_DIR: join(root, "journal"),
      JOURNAL_MAX_BYTES: 1_000_000,
      JOURNAL_MAX_RECORDS: 100,
      JOURNAL_SEGMENT_BYTES: 100_000,
      WORKING_DIR: join(root, "queue"),
    },
    { clock: systemClock, log: silentLog(), failpoint: () => Promise.resolve() },
  );

async function leave(folder: string): Promise<void> {
  await mkdir(join(root, "queue", folder, "uploads"), { recursive: true });
  await writeFile(join(root, "queue", folder, "uploads/object.txt"), "content");
}

async function journaled(upload: JournaledUpload): Promise<void> {
  const keepUpload = () => Promise.resolve({ ok: true, upload, discard: () => Promise.resolve() } as const);
  expect(await opened.backlog.add({ uuid: UUID, submission: submission(), keepUpload })).toEqual({ kind: "added" });
}

const { batchId: batch, batchEpoch: epoch, fleet } = OLD;

/** What the disaster found. */
const LEFT: Readonly<Record<string, () => Promise<void>>> = {
  "an upload under a number of the lost tree": async () => {
    await leave(batchFolder(OLD));
    await journaled({ kind: "numbered", batch, epoch, fleet });
  },
  "an upload that had been moved to a number of the lost tree": async () => {
    await leave(batchFolder(OLD));
    await journaled({ kind: "kept", folder: "form" });
    await opened.inHand.set({ number: 1, batch, epoch, fleet });
  },
  "an upload whose number of the lost tree was only noted": async () => {
    await leave(join(".journaled", await readFile(join(root, "journal/name"), "utf8"), "form"));
    await journaled({ kind: "kept", folder: "form" });
    await opened.inHand.set({ number: 1, batch, epoch, fleet });
  },
};

class Killed extends Error {}

/** Until the record is done with; dies at the step the first time it comes there. */
async function drain(killedAt: string | null): Promise<Ingested> {
  let pending = killedAt;
  for (;;) {
    const [number] = opened.journal.waiting();
    if (number === undefined) throw new Error("nothing waits");
    const entry = entryOf(await opened.journal.read(number));
    if (entry === null) throw new Error("no entry");
    try {
      const done = await ingest(
        portsOf((step) => {
          if (step !== pending) return Promise.resolve();
          pending = null;
          return Promise.reject(new Killed());
        }),
        number,
        entry,
      );
      if (done.kind === "again") continue;
      await opened.backlog.consume(number, UUID);
      return done;
    } catch (error) {
      if (!(error instanceof Killed)) throw error;
      await opened.journal.close();
      opened = await open();
    }
  }
}

const portsOf = (failpoint: (step: string) => Promise<void>) => ({
  ...opened,
  failpoint,
  clock: systemClock,
  queue: {
    fleet: () => "after",
    reserve: () => Promise.resolve({ batchId: batchId(++tree.next), batchEpoch: 200, fleet: "after" }),
    create: ({ uuid, place }: { uuid: string; place?: BatchPlace }) => {
      const there = tree.batches.get(uuid);
      if (there !== undefined) return Promise.resolve({ kind: "replayed", id: there } as const);
      if (tree.taken.has(place!.batchId)) return Promise.resolve({ kind: "refused", detail: "NODE_EXISTS" } as const);
      tree.batches.set(uuid, place!.batchId);
      return Promise.resolve({ kind: "created", id: place!.batchId } as const);
    },
  },
  reader: {
    batchOf: (uuid: string) => {
      const id = tree.batches.get(uuid);
      return Promise.resolve(id === undefined ? ({ kind: "none" } as const) : ({ kind: "found", value: id } as const));
    },
  },
  removeBatchFolder: () => Promise.reject(new Error("a folder was removed")),
});

const foldersOfBatches = async (): Promise<readonly string[]> =>
  (await readdir(join(root, "queue"))).filter((name) => name.startsWith("bid"));

const STEPS = [null, "ingestAfterCarry", "ingestBeforeMove", "ingestAfterMove", "ingestAfterCreate"];

/** One batch, and its files in the folder that is named after it. */
async function expectOneBatch(): Promise<BatchId> {
  expect(tree.batches.size).toBe(1);
  const id = tree.batches.get(UUID)!;
  const [folder, ...more] = await foldersOfBatches();
  expect([folder?.startsWith(id), more]).toEqual([true, []]);
  expect(await readFile(join(root, "queue", folder!, "uploads/object.txt"), "utf8")).toBe("content");
  expect(opened.refused.size).toBe(0);
  return id;
}

describe.each(Object.entries(LEFT))("%s", (what, left) => {
  test.each(STEPS)("becomes one batch, with its files; killed at %s", async (step) => {
    await left();
    expect(await drain(step)).toMatchObject({ kind: "ingested" });
    // It may have been made under its old number, and jobs of it have been done: what they did has names with that number.
    expect((await expectOneBatch()) === batch).toBe(!what.includes("only noted"));
  });

  test.each(STEPS)("gets another number if its own is somebody else's; killed at %s", async (step) => {
    await left();
    tree.taken.add(batch);
    expect(await drain(step)).toMatchObject({ kind: "ingested" });
    expect((await expectOneBatch()) === batch).toBe(false);
  });
});

test("a record whose batch the snapshot has makes no other one, and its folder stays", async () => {
  await LEFT["an upload under a number of the lost tree"]!();
  tree.batches.set(UUID, batch);
  expect(await drain(null)).toEqual({ kind: "ingested", batch, replayed: true });
  expect(tree.batches.size).toBe(1);
  await access(join(root, "queue", batchFolder(OLD), "uploads/object.txt"));
});

test("nobody else's folder is touched: a number that was given again, to somebody else, has another folder", async () => {
  await LEFT["an upload under a number of the lost tree"]!();
  const others = batchFolder({ batchId: batch, batchEpoch: 200 });
  await leave(others);
  await writeFile(join(root, "queue", others, "uploads/object.txt"), "somebody else's");
  await drain(null);
  expect(await readFile(join(root, "queue", others, "uploads/object.txt"), "utf8")).toBe("somebody else's");
});
