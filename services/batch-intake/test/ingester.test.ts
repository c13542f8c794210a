import { mkdir, readdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { type BatchId, batchId, batchUuidFromKey, FIRST_EPOCH } from "@sluice/queue-core";
import type { IoFault, Outcome } from "@sluice/safe-io";
import { silentLog } from "@sluice/stage-runtime";
import { waitFor } from "@sluice/testkit";
import { systemClock } from "@sluice/zookeeper";
import { type KeptUploads, openKeptUploads } from "../src/files/kept-uploads.ts";
import { Ingester } from "../src/journal/ingester.ts";
import { type OpenBacklog, openBacklog } from "../src/journal/open-backlog.ts";
import { makeCleanups, submission, temporaryFolder } from "./support.ts";

const cleanups = makeCleanups();
afterEach(() => cleanups.run());

let root: string;
let opened: OpenBacklog;
let created: BatchId[];
beforeEach(async () => {
  root = await temporaryFolder(cleanups);
  created = [];
  opened = await openBacklog(
    {
      JOURNAL_DIR: join(root, "journal"),
      JOURNAL_MAX_BYTES: 1_000_000,
      JOURNAL_MAX_RECORDS: 100,
      JOURNAL_SEGMENT_BYTES: 100_000,
      WORKING_DIR: join(root, "queue"),
    },
    { clock: systemClock, log: silentLog(), failpoint: () => Promise.resolve() },
  );
  cleanups.add(() => opened.journal.close());
});

const UUID = batchUuidFromKey("ada", "key");
const PLACE = { batchId: batchId(7), batchEpoch: FIRST_EPOCH };

/** An accepted submission whose upload waits in a folder of the journal's. */
async function journalUpload(): Promise<void> {
  await mkdir(join(root, "queue/.incoming/form/uploads"), { recursive: true });
  await writeFile(join(root, "queue/.incoming/form/uploads/object.txt"), "content");
  const added = await opened.backlog.add({
    uuid: UUID,
    submission: submission(),
    keepUpload: async () => {
      expect((await opened.uploads.keep("form")).ok).toBe(true);
      return { ok: true, upload: { kind: "kept", folder: "form" }, discard: () => Promise.resolve() };
    },
  });
  expect(added).toEqual({ kind: "added" });
}

function start(uploads: KeptUploads, fleet: () => string | null = () => "tree"): Ingester {
  const ingester = new Ingester({
    ...opened,
    uploads,
    queue: {
      fleet,
      reserve: () => Promise.resolve({ ...PLACE, fleet: "tree" }),
      create: ({ place }) => {
        created.push(place!.batchId);
        return Promise.resolve({ kind: "created", id: place!.batchId });
      },
    },
    reader: { batchOf: () => Promise.resolve({ kind: "none" }) },
    removeBatchFolder: () => Promise.resolve(),
    clock: systemClock,
    log: silentLog(),
    metrics: { show: () => undefined, ingested: counter, refused: counter, damaged: counter },
    tryAgainMs: 1,
  });
  ingester.start();
  cleanups.add(() => ingester.stop());
  return ingester;
}
const counter = { inc: () => undefined } as never;

const untilSettled = (): Promise<unknown> => waitFor(() => opened.backlog.isEmpty, { what: "the journal to be empty" });

/** Fails so often, and then does what it should. */
function failing(times: number, error: IoFault): KeptUploads & { readonly tries: () => number } {
  let tries = 0;
  return {
    ...opened.uploads,
    tries: () => tries,
    becomeBatch: (folder, batch): Promise<Outcome<void>> => {
      tries += 1;
      return tries > times ? opened.uploads.becomeBatch(folder, batch) : Promise.resolve({ ok: false, error });
    },
  };
}

describe("a submission that was answered for", () => {
  test.each<[IoFault["code"]]>([["NO_SPACE"], ["IO_ERROR"]])(
    "waits as long as it takes for a disk with %s, and is not refused for it",
    async (code) => {
      await journalUpload();
      start(failing(20, { code, message: "not now", retryable: true }));
      await untilSettled();
      expect(created).toEqual([batchId(7)]);
      expect(opened.refused.size).toBe(0);
      expect(await readFile(join(root, "queue/bid0000000007/uploads/object.txt"), "utf8")).toBe("content");
    },
  );

  test("is set aside with its files after five tries when the trouble is its own", async () => {
    await journalUpload();
    const uploads = failing(Number.MAX_SAFE_INTEGER, { code: "LINK_REFUSED", message: "a link", retryable: false });
    start(uploads);
    await untilSettled();
    expect(uploads.tries()).toBe(5);
    expect(created).toEqual([]);
    expect(opened.backlog.refusals(UUID)).toMatchObject([{ why: "a link" }]);
    expect(await readdir(join(root, "queue/.refused"))).toHaveLength(1);
  });
});

describe("an intake that goes for good", () => {
  test("leaves when the queue has what was in its journal", async () => {
    await journalUpload();
    let fleet: string | null = null;
    const drained = start(opened.uploads, () => fleet).drain(new AbortController().signal);
    expect(created).toEqual([]);
    fleet = "tree";
    await drained;
    expect(created).toEqual([batchId(7)]);
    expect(opened.backlog.isEmpty).toBe(true);
  });

  test("leaves with it on its disk when its time is over before the queue is back", async () => {
    await journalUpload();
    const over = new AbortController();
    const drained = start(opened.uploads, () => null).drain(over.signal);
    over.abort();
    await drained;
    expect(created).toEqual([]);
    expect(opened.backlog.stats().records).toBe(1);
  });
});

describe("uploads that are kept for the journal", () => {
  test("are gone only if the disk says so", async () => {
    const uploads = await openKeptUploads(join(root, "queue"), "mine");
    expect(await uploads.isKept("form")).toEqual({ ok: true, value: false });
    expect(await uploads.becomeBatch("form", PLACE)).toMatchObject({ error: { code: "NOT_FOUND" } });
    // A link on the way: nobody can say what is there.
    await symlink(root, join(root, "queue/.journaled"));
    const unknown = { ok: false, error: { code: "LINK_REFUSED" } };
    expect(await uploads.isKept("form")).toMatchObject(unknown);
    expect(await uploads.becomeBatch("form", PLACE)).toMatchObject(unknown);
    expect(await uploads.setAside({ folder: "form" }, "1")).toMatchObject(unknown);
  });
});
