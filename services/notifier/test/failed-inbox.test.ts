import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { formatTimestamp, type QueueContext, records, type Viewed } from "@sluice/queue-core";
import type { Egress } from "@sluice/safe-io";
import type { InboxContext, InboxOutcome } from "@sluice/stage-runtime";
import { failedInbox } from "../src/failed-inbox.ts";
import type { CallbackSubject } from "../src/job-state.ts";
import {
  aJob,
  answers,
  JOB_NAME,
  jobContext,
  logbook,
  loopbackEgress,
  NOW_MS,
  profileWith,
  type Receiver,
  receiver,
} from "./support.ts";

const HOUR_MS = 3_600_000;

describe("the callback of a failed job", () => {
  let egress: Egress;
  let server: Receiver | undefined;
  /** What is left behind of callbacks that are over: why they were not delivered. */
  let left: string[];
  beforeEach(() => {
    left = [];
    egress = loopbackEgress();
  });
  afterEach(async () => {
    await egress.close();
    await server?.close();
    server = undefined;
  });

  const news = (ageMs = 0, retry = 0) => ({
    name: `jid0000000007.${retry}`,
    data: records.callback.encode({
      job: "jid0000000007",
      batch: "bid0000000001",
      outcome: "FAILED",
      retry,
      message: "DIGEST_MISMATCH: thesis.pdf",
      at: formatTimestamp(NOW_MS - ageMs),
    }),
  });
  const inbox = (
    lines: readonly string[],
    subject: Viewed<CallbackSubject> = { kind: "found", value: aJob({ inventory: null }) },
  ) =>
    failedInbox({
      profiles: profileWith(lines),
      egress,
      readSubject: () => Promise.resolve(subject),
      note(_queue, _id, _record, { notDelivered }) {
        left.push(notDelivered);
        return Promise.resolve([]);
      },
      giveUpAfterMs: HOUR_MS,
      persistentUrlBase: null,
    });
  /** As the engine takes an item away. */
  const noted = async (outcome: InboxOutcome): Promise<readonly string[]> => {
    if (outcome.kind === "consumed") await outcome.leaving?.();
    return left;
  };
  const context = (log = logbook().log): InboxContext => ({
    ...jobContext(log),
    queue: {} as QueueContext,
    rewrite: () => Promise.resolve(true),
  });

  test("is told with what went wrong, under a key for this failure", async () => {
    server = await receiver(answers(204));
    const outcome = await inbox([`CallbackURL: http://${server.host}`]).handle(news(1_000, 3), context());

    expect(outcome).toMatchObject({ kind: "consumed" });
    expect(await noted(outcome)).toEqual([""]);
    expect(server.received[0]).toMatchObject({
      path: `/mc/${JOB_NAME}`,
      headers: { "idempotency-key": `${JOB_NAME}.FAILED.3` },
    });
    expect(JSON.parse(server.received[0]!.body)).toMatchObject({
      "job:jobState": {
        "job:jobStatus": "FAILED",
        "job:jobStatusMessage": "DIGEST_MISMATCH: thesis.pdf",
        "job:completionDate": "2024-05-01T11:59:59.000Z",
        "job:localID": "etd-1;etd-1b",
      },
    });
  });

  test("is not told of an object that was stored", async () => {
    server = await receiver(answers(204));
    const stored = { ...aJob(), inventory: { manifest_url: "http://127.0.0.1/o/v1/inventory.json", mode: "add" } };
    const outcome = await inbox([`CallbackURL: http://${server.host}`], { kind: "found", value: stored }).handle(
      news(),
      context(),
    );
    expect(server.received).toEqual([]);
    expect(await noted(outcome)).toEqual([expect.stringContaining("the object is stored")]);
  });

  test("waits for a receiver that is away, and is given up with a warning in the end", async () => {
    server = await receiver(answers(500));
    const { log, notes } = logbook();
    const callbacks = inbox([`CallbackURL: http://${server.host}`]);

    expect(await callbacks.handle(news(HOUR_MS - 1_000), context(log))).toMatchObject({ kind: "retry" });
    expect(notes).toEqual([]);
    const last = await callbacks.handle(news(HOUR_MS), context(log));
    expect(last).toMatchObject({ kind: "consumed" });
    expect(await noted(last)).toEqual([expect.stringContaining("500")]);
    expect(notes).toMatchObject([{ level: "warn" }]);
    expect(server.received).toHaveLength(2);
  });

  test("is given up at once when the receiver refuses it", async () => {
    server = await receiver(answers(404));
    const { log, notes } = logbook();
    const outcome = await inbox([`CallbackURL: http://${server.host}`]).handle(news(), context(log));
    expect(outcome).toMatchObject({ kind: "consumed" });
    expect(await noted(outcome)).toEqual([expect.stringContaining("404")]);
    expect(notes).toMatchObject([{ level: "warn" }]);
  });

  test("is not for a profile without a callback, nor for a job that is cleaned up", async () => {
    expect(await inbox([]).handle(news(), context())).toEqual({ kind: "consumed" });
    expect(await inbox([], { kind: "none" }).handle(news(), context())).toEqual({ kind: "consumed" });
  });

  test("stays where it is while ZooKeeper does not answer", async () => {
    expect(await inbox([], { kind: "silence" }).handle(news(), context())).toMatchObject({ kind: "snooze" });
  });

  test("that cannot be read is dropped loudly instead of being tried for ever", async () => {
    const { log, notes } = logbook();
    expect(await inbox([]).handle({ name: "x", data: Buffer.from("?") }, context(log))).toEqual({ kind: "consumed" });
    expect(notes).toMatchObject([{ level: "error" }]);
  });
});
