import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { RETRY_MAX_MS, retryDelayMs } from "../src/engine/backoff.ts";
import { handBack, isPoison, poisonVerdict, verdictOn } from "../src/engine/settle.ts";
import { done, fail, retry, snooze } from "../src/index.ts";

const at = { state: "Downloading", attempt: 1, attemptsMax: 5, chance: 0.5 } as const;

describe("the verdict on an outcome", () => {
  test("lets a done job go on with its changes", () => {
    const changes = { spaceNeeded: 3 };
    expect(verdictOn(done(changes), at)).toEqual({ kind: "end", ending: { kind: "done", changes } });
  });

  test("fails a job where the table has a way for it", () => {
    expect(verdictOn(fail("DOWNLOAD_FAILED", "404"), at)).toMatchObject({
      kind: "end",
      ending: { kind: "fail", code: "DOWNLOAD_FAILED", message: "404" },
    });
  });

  test("takes a failure where the table has none for a bug, and tries again", () => {
    expect(verdictOn(fail("UNEXPECTED", "oh"), { ...at, state: "Estimating" })).toMatchObject({
      kind: "back",
      how: "retry",
      wait: { why: "UNEXPECTED: UNEXPECTED: oh", countsAttempt: true },
    });
  });

  test("takes the attempt back for a snooze, however often", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 100 }), (attempt) => {
        expect(verdictOn(snooze(9, "full"), { ...at, attempt })).toEqual({
          kind: "back",
          how: "snooze",
          wait: { delayMs: 9, why: "full", countsAttempt: false },
        });
      }),
    );
  });

  test("waits as long as the other side asked for, if it did", () => {
    expect(verdictOn(retry("DOWNLOAD_FAILED", "503", 77), at)).toMatchObject({ wait: { delayMs: 77 } });
    expect(verdictOn(retry("DOWNLOAD_FAILED", "503"), at)).toMatchObject({ wait: { delayMs: 500 } });
  });

  test("gives up at the last attempt with the last code, in the table's way", () => {
    const last = { ...at, attempt: 5 };
    expect(verdictOn(retry("STORE_FAILED", "no"), last)).toEqual({
      kind: "end",
      ending: { kind: "fail", code: "STORE_FAILED", message: "given up after 5 attempts: no" },
    });
    expect(verdictOn(retry("STORE_FAILED", "no"), { ...last, state: "Provisioning" })).toEqual({
      kind: "end",
      ending: { kind: "quarantine", message: "given up after 5 attempts: STORE_FAILED: no" },
    });
  });

  test("a hand-back costs no attempt and no delay", () => {
    expect(handBack("stopped").wait).toEqual({ delayMs: 0, why: "stopped", countsAttempt: false });
  });

  test("a job is poison once its workers died as often as attempts are allowed", () => {
    expect([4, 5, 6].map((before) => isPoison(before, 5))).toEqual([false, true, true]);
    expect(poisonVerdict(5)).toMatchObject({ kind: "end", ending: { kind: "quarantine" } });
  });
});

describe("the delay before the next attempt", () => {
  test("has a ceiling of 1 s times 4 for each attempt, up to five minutes", () => {
    expect([1, 2, 3, 4, 5, 6, 60].map((attempt) => retryDelayMs(attempt, 1))).toEqual([
      1_000,
      4_000,
      16_000,
      64_000,
      256_000,
      RETRY_MAX_MS,
      RETRY_MAX_MS,
    ]);
  });

  test("is anywhere below its ceiling", () => {
    fc.assert(
      fc.property(fc.nat({ max: 50 }), fc.double({ min: 0, max: 1, noNaN: true }), (attempt, chance) => {
        const delay = retryDelayMs(attempt, chance);
        expect(delay).toBeGreaterThanOrEqual(0);
        expect(delay).toBeLessThanOrEqual(retryDelayMs(attempt, 1));
      }),
    );
  });
});
