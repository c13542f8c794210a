/** How a batch left our hands: one line, with what it takes to see what happened and when it is tried again. */
import { type BatchEnding, codeOfMessage, isOfTheDeposit } from "@sluice/queue-core";
import type { Log } from "../log.ts";
import type { BatchOutcome } from "../outcome.ts";
import type { ItemResult } from "./item-loop.ts";

export interface SettledBatch {
  /** What the handler said. */
  readonly said: BatchOutcome;
  /** What was carried out. */
  readonly ending: BatchEnding;
  readonly result: ItemResult;
  readonly durationMs: number;
}

export function logSettledBatch(log: Log, { said, ending, result, durationMs }: SettledBatch): void {
  const why = result.outcome === "lost" ? "" : (whyOf(ending) ?? whyOf(said) ?? "");
  const facts = {
    outcome: result.outcome,
    ending: ending.kind,
    duration_ms: Math.round(durationMs),
    ...(why === "" ? {} : { why }),
    ...(result.kind === "later" && result.delayMs > 0 ? { delay_ms: Math.round(result.delayMs) } : {}),
  };
  log[levelOf(result.outcome, why)](facts, "batch settled");
}

function whyOf(outcome: BatchOutcome | BatchEnding): string | undefined {
  switch (outcome.kind) {
    case "snooze":
    case "park":
      return outcome.why;
    case "retry":
    case "fail":
      return `${outcome.code}: ${outcome.message}`;
    case "start":
    case "verdict":
    case "release":
      return undefined;
  }
}

/** As for jobs: fatal = will not be tried again, warn = may help, info = key events; what a deposit brings about alarms nobody. */
function levelOf(outcome: string, why: string): "info" | "warn" | "fatal" {
  const code = codeOfMessage(why);
  if (outcome === "fail") return code !== null && isOfTheDeposit(code) ? "warn" : "fatal";
  return TROUBLE.has(outcome) ? "warn" : "info";
}

const TROUBLE: ReadonlySet<string> = new Set(["retry", "lost", "defect", "refused"]);
