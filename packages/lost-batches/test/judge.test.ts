import { describe, expect, test } from "@jest/globals";
import { batchId, batchUuidFromKey, type Submission } from "@sluice/queue-core";
import { canBeMade, type Evidence, judge } from "../src/judge.ts";

const submission = (payload_url: string, uploads?: readonly string[]): Submission =>
  ({
    payload_url,
    ...(uploads && { uploads: uploads.map((name) => ({ name, size: 1, type: "file" })) }),
  }) as unknown as Submission;

const accepted = (payload_url = "https://content.example/a.txt", uploads?: readonly string[]) => ({
  uuid: batchUuidFromKey("ada", "key"),
  submission: submission(payload_url, uploads),
});

const evidence = (more: Partial<Evidence> = {}): Evidence => ({
  place: { batchId: batchId(7), batchEpoch: 100 },
  batch: batchId(7),
  accepted: accepted(),
  badRecord: null,
  folder: "/queue/bid0000000007-100",
  uploads: [],
  isStarted: false,
  told: null,
  tree: { kind: "unknown" },
  isArchived: false,
  recorded: 0,
  ...more,
});

describe("a batch that the tree does not know", () => {
  test.each<[string, Partial<Evidence>, string, string, boolean]>([
    ["has its record", {}, "make-again", "accepted", false],
    ["had begun", { isStarted: true }, "make-again", "started", false],
    ["is recorded in part", { isStarted: true, recorded: 3 }, "make-again", "recorded", false],
    ["is of an inventory that nobody asked", { recorded: null }, "make-again", "accepted", false],
    ["has its upload", { accepted: accepted("upload:a.txt"), uploads: ["a.txt"] }, "make-again", "accepted", false],
    [
      "has lost its upload",
      { accepted: accepted("upload:a.txt"), uploads: ["b.txt"] },
      "uploads-gone",
      "accepted",
      true,
    ],
    [
      "has lost one of several",
      { accepted: accepted("upload:", ["a", "b"]), uploads: ["a"] },
      "uploads-gone",
      "accepted",
      true,
    ],
    [
      "has all of several",
      { accepted: accepted("upload:", ["a", "b"]), uploads: ["b", "a"] },
      "make-again",
      "accepted",
      false,
    ],
    ["was reported", { told: "OK -- Submission Completed", recorded: 2 }, "ended", "reported", false],
    ["was archived", { isArchived: true, accepted: null }, "ended", "archived", false],
    ["has no record", { accepted: null, uploads: ["a.txt"] }, "no-record", "accepted", true],
    [
      "has a record that cannot be read",
      { accepted: null, place: null, badRecord: "torn" },
      "no-record",
      "accepted",
      true,
    ],
    ["came again", { tree: { kind: "came-again", batch: batchId(9) } }, "came-again", "accepted", false],
    ["has a number that is another's", { tree: { kind: "number-taken" } }, "number-taken", "accepted", true],
    [
      "is in the inventory alone",
      { place: null, accepted: null, folder: null, recorded: 4 },
      "recorded-only",
      "recorded",
      true,
    ],
  ])("and that %s", (_what, more, verdict, reached, tell) => {
    const { todo, ...judged } = judge(evidence(more));
    expect(judged).toEqual({ verdict, reached, tell });
    expect(todo).not.toBe("");
  });
});

test("one that was named may be made again although it has ended, but not without its files or under a taken number", () => {
  expect(canBeMade(evidence({ told: "OK" }))).toBe(true);
  expect(canBeMade(evidence({ accepted: null }))).toBe(false);
  expect(canBeMade(evidence({ accepted: accepted("upload:a") }))).toBe(false);
  expect(canBeMade(evidence({ tree: { kind: "number-taken" } }))).toBe(false);
});
