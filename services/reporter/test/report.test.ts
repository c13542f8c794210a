import { describe, expect, test } from "@jest/globals";
import { recipients, wantsQueuedMail } from "../src/recipients.ts";
import { changesSince } from "../src/report.ts";
import { failedJob, profileWith, reported, submissionWith } from "./support.ts";

describe("what an update report tells", () => {
  const previous = { failed: new Set(["jid0000000002", "jid0000000003"]), successful: new Set(["jid0000000001"]) };

  test("is what succeeded since the last one, and everything that still fails", () => {
    const now = { completed: [reported(1), reported(2)], failed: [failedJob(3)], deleted: [] };
    expect(changesSince(previous, now)).toEqual({ completed: [reported(2)], failed: [failedJob(3)], deleted: [] });
  });

  test("is nothing when no job has changed its state", () => {
    const now = { completed: [reported(1)], failed: [failedJob(2, "another message"), failedJob(3)], deleted: [] };
    expect(changesSince(previous, now)).toBeNull();
  });

  test("includes failed jobs that were deleted, but not those deleted before the last report", () => {
    const deleted = [reported(3, { state: "Deleted" }), reported(9, { state: "Deleted" })];
    const now = { completed: [reported(1)], failed: [failedJob(2)], deleted };
    expect(changesSince(previous, now)).toMatchObject({ completed: [], deleted: [{ id: "jid0000000003" }] });
  });
});

const NAMED = "One@Example.org,dora@home.example,x@a.home.example,y@nothome.example,eve@evil.example";

describe("who is told", () => {
  const profile = profileWith(["Notification.1: one@example.org", "Notification.2: two@example.org"]);

  test("are the addresses of the profile", () => {
    expect(recipients(submissionWith(), profile)).toEqual(["one@example.org", "two@example.org"]);
  });

  test("are those named with the submission, if there are any, each once", () => {
    const submission = submissionWith({ notification: "two@example.org, a@example.org;two@example.org" });
    const open = profileWith(["Notification.2: two@example.org", "NotificationAllow.1: *"]);
    expect(recipients(submission, open)).toEqual(["two@example.org", "a@example.org"]);
  });

  test.each<[string, readonly string[], object, readonly string[]]>([
    ["the profile's", [], {}, ["One@Example.org"]],
    ["the depositor's own", [], { submitted_by: "dora@home.example" }, ["One@Example.org", "dora@home.example"]],
    ["not whom the request calls submitter", [], { submitter: "dora@home.example" }, ["One@Example.org"]],
    ["an address that it allows", ["EVE@evil.example"], {}, ["One@Example.org", "eve@evil.example"]],
    ["a domain, not its subdomains or others", ["@home.example"], {}, ["One@Example.org", "dora@home.example"]],
    ["anybody, if it says so", ["*"], {}, NAMED.split(",")],
  ])("are, of those named, only whom the profile lets be told: %s", (_what, allowed, fields, told) => {
    const rules = allowed.map((rule, index) => `NotificationAllow.${index + 1}: ${rule}`);
    const strict = profileWith(["Notification.1: one@example.org", ...rules]);
    expect(recipients(submissionWith({ notification: NAMED, ...fields }), strict)).toEqual(told);
  });

  test("are the profile's when nobody named may be told", () => {
    const submission = submissionWith({ notification: "eve@evil.example" });
    expect(recipients(submission, profile)).toEqual(["one@example.org", "two@example.org"]);
  });

  test("is nobody when the profile suppresses all mail, and everybody when it suppresses some", () => {
    const quiet = profileWith(["Notification.1: one@example.org", "NotificationSuppression: full"]);
    const partly = profileWith(["Notification.1: one@example.org", "NotificationSuppression: partial"]);
    expect(recipients(submissionWith({ notification: "a@example.org" }), quiet)).toEqual([]);
    expect(recipients(submissionWith(), partly)).toEqual(["one@example.org"]);
  });

  test("never contains what would start another header or another address", () => {
    const submission = submissionWith({ notification: "a@example.org\r\nBcc:eve@example.org, <b@example.org>" });
    const open = profileWith(["Notification.1: one@example.org", "NotificationAllow.1: *"]);
    expect(recipients(submission, open)).toEqual(["a@example.org"]);
  });

  test("is the depositor, if the submission names them, when the profile is gone", () => {
    const submission = { notification: "a@example.org,b@example.org", submitted_by: "a@example.org" };
    expect(recipients(submissionWith(submission), null)).toEqual(["a@example.org"]);
    expect(recipients(submissionWith(), null)).toEqual([]);
  });
});

test("the news that a batch is under way is for all but those whose profile forbids it, as in Merritt", () => {
  const asks = (...lines: string[]): boolean =>
    wantsQueuedMail(profileWith(["Notification.1: a@example.org", ...lines]));
  expect(asks()).toBe(true);
  expect(asks("NotificationType: additional")).toBe(true);
  expect(asks("NotificationType: verbose")).toBe(false);
  expect(asks("NotificationSuppression: partial")).toBe(false);
  expect(asks("NotificationSuppression: full")).toBe(false);
  const handlers = ["queue.HandlerSubmit", "queue.HandlerNotification"].map(
    (name, i) => `HandlerQueue.${i}: x.${name}`,
  );
  expect([asks(...handlers), asks(handlers[0]!)]).toEqual([true, false]);
});
