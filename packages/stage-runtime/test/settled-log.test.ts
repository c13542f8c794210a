/** At which level the end of an attempt is logged: what a depositor can bring about alarms nobody. */
import { type ErrorCode, jobId } from "@sluice/queue-core";
import { expect, test } from "@jest/globals";
import type { Scope } from "../src/engine/scope.ts";
import { observeSettled } from "../src/jobs/job-observer.ts";
import type { JobTask } from "../src/jobs/task.ts";
import { makeLog } from "../src/index.ts";
import { unseenMetrics } from "../src/observe/metrics.ts";

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

test.each(["UNEXPECTED", "GIVEN_UP", "STORE_FAILED"] as const)("%s is not", (code) =>
  expect(levelOf(code)).toBe("fatal"),
);
