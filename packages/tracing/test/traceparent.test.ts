import { describe, expect, test } from "@jest/globals";
import { randomBytes } from "node:crypto";
import {
  attemptContext,
  jobTraceparent,
  newTraceparent,
  parseTraceparent,
  printTraceparent,
} from "../src/traceparent.ts";

const GIVEN = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

describe("a traceparent", () => {
  test("is read and printed", () => {
    const context = parseTraceparent(GIVEN);
    expect(context).toMatchObject({ traceId: "0af7651916cd43dd8448eb211c80319c", spanId: "b7ad6b7169203331" });
    expect(printTraceparent(context!)).toBe(GIVEN);
  });

  test.each([
    ["nothing", undefined],
    ["a number", 7],
    ["a version of the future", GIVEN.replace("00-", "01-")],
    ["capitals", GIVEN.toUpperCase()],
    ["a trace of zeros", `00-${"0".repeat(32)}-b7ad6b7169203331-01`],
    ["a span of zeros", `00-0af7651916cd43dd8448eb211c80319c-${"0".repeat(16)}-01`],
    ["more behind it", `${GIVEN}-x`],
  ])("is not read from %s", (_, raw) => {
    expect(parseTraceparent(raw)).toBeNull();
  });

  test("is made anew where there is none, and not recorded", () => {
    const made = newTraceparent(randomBytes);
    expect(parseTraceparent(made)).toMatchObject({ traceFlags: 0 });
    expect(newTraceparent(randomBytes)).not.toBe(made);
  });
});

describe("ids that are reckoned", () => {
  test("give each row of a batch a trace of its own, the same each time", () => {
    const traces = [0, 1, 2].map((row) => jobTraceparent(GIVEN, row));
    expect(new Set(traces.map((trace) => parseTraceparent(trace)?.traceId)).size).toBe(3);
    expect(jobTraceparent(GIVEN, 1)).toBe(traces[1]);
    expect(parseTraceparent(traces[0])).toMatchObject({ traceFlags: 1 });
    expect(jobTraceparent("nonsense", 1)).toBeNull();
  });

  test("give each claim of a job a span of its own in the job's trace", () => {
    const job = parseTraceparent(GIVEN)!;
    const [first, second] = [attemptContext(job, { epoch: 1, token: 1 }), attemptContext(job, { epoch: 1, token: 3 })];
    expect([first.traceId, second.traceId]).toEqual([job.traceId, job.traceId]);
    expect(new Set([job.spanId, first.spanId, second.spanId]).size).toBe(3);
    expect(attemptContext(job, { epoch: 1, token: 3 })).toEqual(second);
    expect(attemptContext(job, { epoch: 2, token: 3 })).not.toEqual(second);
  });
});
