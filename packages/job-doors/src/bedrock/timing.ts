/** How long a request waits, whether anybody waits for its answer, and when it is to be carried out. */
import { type Status, STATUS } from "@sluice/job-queue";

export interface Timing {
  /** `Connection: wait`: until there is a job. */
  readonly wait: boolean;
  /** `Connection: forget`: nobody wants the answer. */
  readonly forget: boolean;
  readonly timeoutMs: number;
  /** Ms since 1970; null: at once. */
  readonly executeAt: number | null;
}

const TIMEOUT_MS = 110_000;
const FORGET_TIMEOUT_MS = 3_600_000;
const LONGEST_TIMEOUT_MS = 24 * 3_600_000;

export function readTiming(headers: ReadonlyMap<string, string>, now: number): Timing | Status {
  const connection = (headers.get("connection") ?? "").toLowerCase();
  const forget = connection === "forget";
  const timeout = wholeNumber(headers.get("timeout"));
  if (timeout === undefined) return STATUS.malformed("timeout");
  const executeTime = wholeNumber(headers.get("commandexecutetime"));
  if (executeTime === undefined) return STATUS.malformed("commandExecuteTime");
  const executeAt = executeTime === null ? null : Math.ceil(executeTime / 1000);
  return {
    wait: connection === "wait",
    forget,
    timeoutMs: Math.min(timeout ?? (forget ? FORGET_TIMEOUT_MS : TIMEOUT_MS), LONGEST_TIMEOUT_MS),
    executeAt: executeAt !== null && executeAt > now ? executeAt : null,
  };
}

/** Null: not given. Undefined: no such number. */
function wholeNumber(raw: string | undefined): number | null | undefined {
  if (raw === undefined || raw === "") return null;
  return /^\d{1,16}$/.test(raw) ? Number(raw) : undefined;
}
