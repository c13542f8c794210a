import { describe, expect, test } from "@jest/globals";
import { type Batch, batchId, formatTimestamp, type LoadedBatch, type StatusReport } from "@sluice/queue-core";
import type { IoFault } from "@sluice/safe-io";
import type { BatchContext } from "@sluice/stage-runtime";
import type { Sent } from "../src/mail.ts";
import type { BatchLists } from "../src/report.ts";
import { reportStage } from "../src/report-stage.ts";
import {
  failedJob,
  handlerContext,
  logbook,
  mailbox,
  marksInMemory,
  NOW_MS,
  profilesOf,
  profileWith,
  reported,
  submissionWith,
} from "./support.ts";

const LISTS: BatchLists = { completed: [reported(1)], failed: [failedJob(2)], deleted: [] };
const VERDICT = {
  kind: "verdict",
  report: {
    last_modified: "2024-05-01 12:00:00 +0000",
    failed_jobs: ["jid0000000002"],
    successful_jobs: ["jid0000000001"],
  },
};

function aBatch(overrides: Partial<Batch> = {}): Batch {
  return {
    id: batchId(12),
    state: "Reporting",
    attempt: 1,
    status: { status: "Reporting", last_modified: "", message: "" },
    submission: submissionWith(),
    expansion: { rows: 2, created: 2, digest: "", reports: 0, op: "x" },
    report: null,
    ...overrides,
  };
}

function stage(
  options: {
    lists?: BatchLists | null;
    previous?: StatusReport | null;
    sent?: Sent;
    profile?: readonly string[];
    unwritable?: IoFault;
    announced?: boolean;
  } = {},
) {
  const mailer = mailbox(options.sent);
  const { log, notes } = logbook();
  const outcomes: string[] = [];
  const ctx: BatchContext = {
    ...handlerContext(log),
    loaded: {} as LoadedBatch,
    addJobs: () => Promise.resolve({ kind: "lost" }),
    expansionMustWait: () => Promise.resolve(null),
  };
  const parts = {
    profiles: profilesOf(profileWith(options.profile ?? ["Notification.1: anna@example.org"])),
    mailer,
    marks: marksInMemory(options.unwritable),
    subjectTag: "",
    onMail: (outcome: string) => outcomes.push(outcome),
    tree: {
      lists: () => Promise.resolve(options.lists === undefined ? LISTS : options.lists),
      previous: () => Promise.resolve(options.previous ?? null),
      isAnnounced: () => Promise.resolve(options.announced ?? true),
    },
  };
  const handle = (batch: Batch) => reportStage("Reporting", parts).handle(batch, ctx);
  return { handle, mails: mailer.mails, notes, outcomes };
}

describe("a batch whose last job has ended", () => {
  test("is told to its depositor, and the verdict names the jobs that failed", async () => {
    const { handle, mails, outcomes } = stage();
    expect(await handle(aBatch())).toEqual(VERDICT);
    expect(mails).toMatchObject([{ name: "bid0000000012.1", to: ["anna@example.org"], sentAtMs: NOW_MS }]);
    expect(outcomes).toEqual(["sent"]);
  });

  test("is not told before the mail that it is being ingested", async () => {
    const { handle, mails } = stage({ announced: false });
    expect(await handle(aBatch())).toMatchObject({ kind: "snooze", why: expect.stringContaining("comes first") });
    expect(mails).toEqual([]);
  });

  test("is not told again after a crash between the mail and its verdict", async () => {
    const { handle, mails } = stage();
    await handle(aBatch());
    expect(await handle(aBatch({ attempt: 2 }))).toEqual(VERDICT);
    expect(mails).toHaveLength(1);
  });

  test("is told again by the very same mail when nothing could be written down", async () => {
    const { handle, mails, notes } = stage({
      unwritable: { code: "NO_SPACE", message: "no space left", retryable: true },
    });
    const status = { status: "Reporting", last_modified: "2024-05-01 11:00:00 +0000", message: "" } as const;
    await handle(aBatch({ status }));
    await handle(aBatch({ status, attempt: 2 }));
    expect(mails).toMatchObject([{ name: "bid0000000012.1", sentAtMs: NOW_MS - 3_600_000 }, {}]);
    expect(mails[1]).toEqual(mails[0]);
    expect(notes.join()).toContain("no space left");
  });

  test.each([
    [0, 5_000],
    [80_000, 20_000],
    [86_400_000, 300_000],
  ])("waits, longer each time, for a mail server that is away: after %i ms for %i", async (waitedMs, delayMs) => {
    const { handle, notes } = stage({ sent: { kind: "later", why: "connection refused" } });
    const status = { status: "Reporting", last_modified: formatTimestamp(NOW_MS - waitedMs), message: "" } as const;
    expect(await handle(aBatch({ status }))).toEqual({ kind: "snooze", delayMs, why: "connection refused" });
    expect(notes).toHaveLength(1);
  });

  test("gets its verdict also when the mail server refuses the mail for good", async () => {
    const { handle, notes } = stage({ sent: { kind: "refused", why: "550 no such user" } });
    expect(await handle(aBatch())).toEqual(VERDICT);
    expect(notes.join()).toContain("550 no such user");
  });

  test("is told to nobody when the profile says so", async () => {
    const { handle, mails, outcomes } = stage({
      profile: ["Notification.1: a@example.org", "NotificationSuppression: full"],
    });
    expect(await handle(aBatch())).toEqual(VERDICT);
    expect(mails).toEqual([]);
    expect(outcomes).toEqual(["nobody"]);
  });

  describe("of a profile that is not there", () => {
    const since = (waitedMs: number, fields: object = {}) =>
      aBatch({
        status: { status: "Reporting", last_modified: formatTimestamp(NOW_MS - waitedMs), message: "" },
        submission: submissionWith({ profile_name: "gone_content", ...fields }),
      });

    test("waits for it: only the profile says who is to be told, or that nobody is", async () => {
      const { handle, mails } = stage();
      const why = "there is no profile gone_content: who is to be told is not known";
      expect(await handle(since(3_599_000))).toMatchObject({ kind: "snooze", why });
      expect(await handle(since(3_599_000, { notification: "b@example.org" }))).toMatchObject({ kind: "snooze", why });
      expect(mails).toEqual([]);
    });

    test("gets its verdict after an hour all the same, told to the depositor if the submission names them", async () => {
      const { handle, mails, notes, outcomes } = stage();
      expect(await handle(since(3_600_000, { notification: "c@example.org" }))).toEqual(VERDICT);
      const named = { notification: "b@example.org", submitted_by: "b@example.org" };
      expect(await handle(since(3_600_000, named))).toEqual(VERDICT);
      expect(mails).toMatchObject([{ to: ["b@example.org"] }]);
      expect(outcomes).toEqual(["nobody", "sent"]);
      expect(notes.join()).toContain("error: the profile is still not there");
    });
  });

  test("is looked at again when ZooKeeper does not answer", async () => {
    const { handle, mails } = stage({ lists: null });
    expect(await handle(aBatch())).toMatchObject({ kind: "snooze" });
    expect(mails).toEqual([]);
  });
});

describe("a batch that reports again", () => {
  const report: StatusReport = {
    last_modified: "",
    failed_jobs: ["jid0000000001", "jid0000000002"],
    successful_jobs: [],
  };
  const batch = aBatch({
    state: "UpdateReporting",
    report,
    expansion: { rows: 2, created: 2, digest: "", reports: 1, op: "x" },
  });

  test("tells what succeeded since, under a number of its own, and reports on all jobs", async () => {
    const { handle, mails } = stage({ previous: report });
    expect(await handle(batch)).toEqual(VERDICT);
    expect(mails).toMatchObject([{ name: "bid0000000012.2" }]);
    expect(mails[0]!.text).toContain("Since the last report 1 object was ingested; 1 object still failed.");
  });

  test("sends nothing when nothing changed, and keeps its verdict", async () => {
    const { handle, mails } = stage({
      previous: { ...report, failed_jobs: ["jid0000000002"], successful_jobs: ["jid0000000001"] },
    });
    expect(await handle(batch)).toEqual(VERDICT);
    expect(mails).toEqual([]);
  });

  test("waits when the lists of its last report cannot be read: it would tell everything again", async () => {
    const { handle, mails } = stage({ previous: null });
    expect(await handle(batch)).toMatchObject({ kind: "snooze" });
    expect(mails).toEqual([]);
  });
});
