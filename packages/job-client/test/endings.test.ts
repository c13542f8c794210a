import { describe, expect, test } from "@jest/globals";
import { attemptsIn, endingAfterThrow, endingOf, fail, finish, PATIENCE, retry } from "../src/endings.ts";

const job = {
  ...{ jobID: 1, name: "foo", data: {}, created: "", lastRun: "", nextRun: "", priority: 500 },
  ...{ repeat: "", retryAfter: "", lease: "1.1" },
};
const boom = new Error("boom");

describe("what a handler returns", () => {
  test("nothing finishes the job; a text or a value is its result", () => {
    expect(endingOf(undefined)).toEqual(finish());
    expect(endingOf("done")).toEqual(finish({ exitCode: 200, result: "done" }));
    expect(endingOf({ how: "fail" })).toEqual(finish({ exitCode: 200, result: '{"how":"fail"}' }));
    expect(endingOf(null)).toEqual(finish({ exitCode: 200, result: "null" }));
    expect(endingOf(retry({ delay: 3 }))).toEqual(retry({ delay: 3 }));
  });
});

describe("what a handler throws", () => {
  test("is tried again later and later, then no more", () => {
    const endings = [1, 2, 3, 4, 5].map((attempt) => endingAfterThrow(job, boom, attempt, PATIENCE));
    const again = (delay: number) => retry({ exitCode: 500, result: "boom", delay });
    expect(endings).toEqual([again(5), again(10), again(20), again(40), fail({ exitCode: 500, result: "boom" })]);
  });

  test("a job that repeats waits for its next time and keeps its schedule", () => {
    const repeating = { ...job, repeat: "FINISHED, +1 DAY" };
    expect(endingAfterThrow(repeating, "no", 99, PATIENCE)).toEqual(retry({ exitCode: 500, result: "no" }));
  });

  test("attempts are those of the present run", () => {
    const events = (...what: string[]) => what.map((each) => ({ what: each }));
    expect(attemptsIn([])).toBe(0);
    expect(attemptsIn(events("create", "take", "retry", "take"))).toBe(2);
    expect(attemptsIn(events("take", "retry", "take", "repeat", "take"))).toBe(1);
    expect(attemptsIn(events("take", "fail", "requeue", "take", "lapse", "take"))).toBe(2);
  });
});
