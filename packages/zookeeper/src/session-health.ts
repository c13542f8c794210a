import type { SessionState } from "./port.ts";

export interface Pulse {
  readonly timeoutMs: number;
  /** Since we sent the last request that was answered: for at least this long we do not know of the server. */
  readonly silenceMs: number;
  readonly linkUp: boolean;
}

/**
 * The server ends a session when it has heard nothing for the timeout. We count from the sending of the last answered
 * request, which the server can only have heard later, and stop at two thirds: we always give up before it does.
 */
export function stateOf({ timeoutMs, silenceMs, linkUp }: Pulse): SessionState {
  if (silenceMs >= (timeoutMs * 2) / 3) return "lost";
  return linkUp && silenceMs < timeoutMs / 3 ? "connected" : "suspended";
}

export const callDeadlineMs = (timeoutMs: number): number => timeoutMs / 3;
/** At each beat of the watchdog goes a ping: three go unanswered before the silence counts. */
export const watchdogIntervalMs = (timeoutMs: number): number => Math.max(10, timeoutMs / 12);
