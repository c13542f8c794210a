/** What depositors and their systems were told: from the job's history, and from the reporter's marks. */
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import type { ProfileLookup } from "@sluice/profile-store";
import { actOnJob, batchFolder, type BatchId, callbackNoteOps, type JobId, paths, resumeJob } from "@sluice/queue-core";
import {
  aBatchOfJobs,
  advance,
  aSubmission,
  claimJob,
  type TestWorker,
  testWorker,
  testZooKeeper,
} from "@sluice/testkit";
import { ADMIN } from "@sluice/wire";
import { printMailMark } from "@sluice/working-folder";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { whyNobodyIsTold } from "../src/http/told.ts";
import { COLLECTION, startAdmin, type TestAdmin, valueOf } from "./support.ts";

const OLGA = { name: "olga", reason: "the receiver was away" };
let connect: string;
let admin: TestAdmin;
let intake: TestWorker;
let notifier: TestWorker;
let made: { readonly batch: BatchId; readonly jobs: readonly JobId[] };

beforeAll(async () => {
  ({ connect } = await testZooKeeper());
  intake = await testWorker(connect, "batch-intake");
  notifier = await testWorker(connect, "notifier");
  const profile = {
    callbackUrl: "https://jo:secret@etd.example.org/in/key?x=1",
    notificationTo: [],
    notificationAllow: [],
  };
  admin = await startAdmin(connect, {
    outside: {
      profiles: { names: () => [COLLECTION], get: () => ({ ok: true, profile }) as unknown as ProfileLookup },
    },
  });
  made = await aBatchOfJobs(intake, 3, aSubmission({ notification: "jo@example.org" }));
});
afterAll(async () => {
  await admin.stop();
  await Promise.all([intake.close(), notifier.close()]);
});

const look = async (id: string, role: "viewer" | "depositor" | "operator" = "operator") =>
  valueOf(await admin.as(role).call(ADMIN.job, { params: { id } }));

describe("the callback of a job", () => {
  test("is due when it has been recorded, is tried again, and is delivered: with attempts, and no secret", async () => {
    const [id] = made.jobs as [JobId];
    expect((await look(id)).callback).toBeNull();
    await advance(connect, id, "Notify");
    expect((await look(id)).callback).toBeNull();
    const first = await claimJob(notifier, "Notify", id);
    await notifier.jobs.giveBack(first.lease, "retry", {
      delayMs: 0,
      why: "CALLBACK_FAILED: 503",
      countsAttempt: true,
    });
    const waiting = { about: "completed", outcome: "waiting", attempts: 1, to: "https://etd.example.org" };
    expect((await look(id)).callback).toMatchObject({ ...waiting, detail: "CALLBACK_FAILED: 503" });
    const second = await claimJob(notifier, "Notify", id);
    await notifier.jobs.commit(second, { kind: "done", changes: {} });
    const { callback } = await look(id);
    expect(callback).toMatchObject({ outcome: "delivered", attempts: 2, at: expect.any(String), detail: null });
    expect(JSON.stringify(callback)).not.toMatch(/secret|key/);
  });

  test("that was given up where the profile lets jobs go on says why", async () => {
    const id = made.jobs[1]!;
    await advance(connect, id, "Notify");
    const claim = await claimJob(notifier, "Notify", id);
    await notifier.jobs.commit(claim, { kind: "done", changes: { message: "not called back: 410 Gone" } });
    expect((await look(id)).callback).toMatchObject({ outcome: "not-delivered", attempts: 1, detail: "410 Gone" });
  });

  test("about a failure waits with the notifier until that has told it, or has given it up", async () => {
    const id = made.jobs[2]!;
    await actOnJob(intake.ctx, OLGA, "fail", id);
    expect((await look(id)).callback).toMatchObject({ about: "failed", outcome: "waiting", attempts: null });
    const taken = await intake.session.multi([{ op: "delete", path: paths.callback(id, 0), version: 0 }]);
    expect(taken.ok).toBe(true);
    expect((await look(id)).callback).toMatchObject({ about: "failed", outcome: "over" });
    const note = async (retry: number, notDelivered: string): Promise<void> => {
      const ops = await callbackNoteOps(notifier.session, id, { retry }, { atMs: 1_000_000, notDelivered });
      if (ops.length > 0) expect(await notifier.session.multi(ops)).toMatchObject({ ok: true });
    };
    await note(0, "");
    const at = new Date(1_000_000).toISOString();
    expect((await look(id)).callback).toMatchObject({ about: "failed", outcome: "delivered", at, detail: null });
    await note(0, "410 Gone");
    expect((await look(id)).callback).toMatchObject({ outcome: "not-delivered", detail: "410 Gone" });
    await note(1, "");
    expect((await look(id)).callback).toMatchObject({ outcome: "not-delivered" });
    // A new story: what was said of the old failure is forgotten, and noted no more.
    await resumeJob(intake.ctx, OLGA, id);
    await note(0, "");
    await actOnJob(intake.ctx, OLGA, "fail", id);
    expect((await look(id)).callback).toMatchObject({ about: "failed", outcome: "waiting" });
  });
});

test("mails are told with their outcome; addresses only to those who work with the collection", async () => {
  const id = made.jobs[0]!;
  const facts = { digest: "d", subject: "Ingest: OK", to: ["jo@example.org"], outcome: "sent", detail: "" } as const;
  const folder = join(admin.dir, batchFolder({ batchId: made.batch, batchEpoch: intake.identity.epoch }));
  await mkdir(folder);
  await writeFile(join(folder, "mail-queued.sent"), "not a mark");
  await writeFile(join(folder, "mail-1.sent"), printMailMark(facts));
  const sent = { number: "1", subject: "Ingest: OK", recipients: 1, outcome: "sent", detail: null };
  expect((await look(id)).mails).toMatchObject([{ ...sent, to: ["jo@example.org"], at: expect.any(String) }]);
  expect((await look(id, "depositor")).mails).toMatchObject([{ to: ["jo@example.org"] }]);
  expect((await look(id, "viewer")).mails).toMatchObject([{ ...sent, to: null }]);
  const batch = async (role: "viewer" | "depositor") =>
    valueOf(await admin.as(role).call(ADMIN.batch, { params: { id: made.batch } })).notification;
  expect([await batch("depositor"), await batch("viewer")]).toEqual(["jo@example.org", null]);
});

describe("a failure", () => {
  const profile = (lines: Record<string, unknown>): ProfileLookup =>
    ({
      ok: true,
      profile: { notificationTo: [], notificationAllow: [], notificationSuppression: "none", ...lines },
    }) as unknown as ProfileLookup;
  const NONE: ProfileLookup = { ok: false, problem: "there is no such profile" };
  const TO = { notificationTo: ["staff@example.org"] };
  const QUIET = { notificationSuppression: "full" };

  test.each([
    ["the depositor's own address", "jo@example.org", NONE, null],
    ["the submission's address", "al@example.org", profile({ notificationAllow: ["@example.org"] }), null],
    ["nobody: what is named may not be told", "al@example.org", profile({}), "neither callback nor address"],
    ["the profile's address", undefined, profile(TO), null],
    ["the callback alone", undefined, profile({ ...QUIET, callbackUrl: "https://etd.example.org" }), null],
    ["nobody: none is named", "", profile({}), "neither callback nor address"],
    ["nobody: what is named is no address", "jo", NONE, "neither callback nor address"],
    ["nobody: the collection suppresses all mails", "jo@example.org", profile({ ...TO, ...QUIET }), "suppresses all"],
  ])("is told to %s", (_who, named, found, why) => {
    const said = whyNobodyIsTold({ notification: named, submitted_by: "jo@example.org" }, found);
    if (why === null) expect(said).toBeNull();
    else expect(said).toContain(why);
  });
});
