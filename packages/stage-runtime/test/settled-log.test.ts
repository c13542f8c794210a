/** At which level the end of an attempt is logged: what a depositor can bring about alarms nobody. */
import { type BatchEnding, type ErrorCode, jobId } from "@sluice/queue-core";
import { describe, expect, test } from "@jest/globals";
import { logSettledBatch } from "../src/duties/batch-log.ts";
import type { ItemResult } from "../src/duties/item-loop.ts";
import type { Scope } from "../src/engine/scope.ts";
import { observeSettled } from "../src/jobs/job-observer.ts";
import type { JobTask } from "../src/jobs/task.ts";
import { makeLog, retry } from "../src/index.ts";
import { unseenMetrics } from "../src/observe/metrics.ts";
import type { BatchOutcome } from "../src/outcome.ts";

function levelOf(code: ErrorCode): unknown {
  const lines: string[] = [];
  const log = makeLog("processor", "info", { write: (line: string) => void lines.push(line) });
  const scope = {
    actor: { stage: "processor", worker: "w" },
    queue: { clock: { nowMs: () => 0, monotonicMs: () => 0 } },
    inHand: { drop: () => undefined },
    metrics: unseenMetrics(),
    probe: () => undefined,
  } as unknown as Scope;
  const span = new Proxy({}, { get: () => () => undefined });
  const task = {
    loaded: { job: { id: jobId(1), state: "Processing" } },
    startedMs: 0,
    log,
    span,
  } as unknown as JobTask;
  const ending = { kind: "fail", code, message: "why" } as const;
  observeSettled(scope, task, { as: "fail", to: "Failed", verdict: { kind: "end", ending } });
  return (JSON.parse(lines[0] ?? "{}") as { level?: unknown }).level;
}

test.each(["COLLECTION_MISMATCH", "IDENTIFIER_CONFLICT", "CONTAINER_REFUSED", "DIGEST_MISMATCH"] as const)(
  "%s is the deposit's fault: a warning",
  (code) => expect(levelOf(code)).toBe("warn"),
);

test.each(["UNEXPECTED", "STORE_FAILED"] as const)("%s is not", (code) => expect(levelOf(code)).toBe("fatal"));

describe("the line about a batch", () => {
  const settled = (said: BatchOutcome, ending: BatchEnding, result: ItemResult): unknown => {
    const lines: string[] = [];
    const log = makeLog("batch-intake", "info", { write: (line: string) => void lines.push(line) });
    logSettledBatch(log, { said, ending, result, durationMs: 12.4 });
    return JSON.parse(lines[0] ?? "{}");
  };
  const unreadable = retry("PAYLOAD_UNREADABLE", "no connection");

  test("that is tried again is a warning that says why and when", () => {
    const again = { kind: "later", outcome: "retry", delayMs: 1_500 } as const;
    expect(settled(unreadable, { kind: "release", counted: true }, again)).toMatchObject({
      level: "warn",
      outcome: "retry",
      why: "PAYLOAD_UNREADABLE: no connection",
      delay_ms: 1_500,
      duration_ms: 12,
    });
  });

  test("that is given up says so, and is not tried again", () => {
    const ending = {
      kind: "fail",
      code: "PAYLOAD_UNREADABLE",
      message: "given up after 5 attempts: no connection",
    } as const;
    expect(settled(unreadable, ending, { kind: "gone", outcome: "fail" })).toMatchObject({
      level: "fatal",
      why: "PAYLOAD_UNREADABLE: given up after 5 attempts: no connection",
    });
  });

  test("that was refused for what the depositor sent alarms nobody", () => {
    const ending = { kind: "fail", code: "DIGEST_MISMATCH", message: "of the manifest" } as const;
    expect(settled(ending, ending, { kind: "gone", outcome: "fail" })).toMatchObject({ level: "warn" });
  });

  test("that went on is information", () => {
    const release = { kind: "release" } as const;
    expect(settled(release, release, { kind: "later", outcome: "release", delayMs: 0 })).toMatchObject({
      level: "info",
    });
  });
});
