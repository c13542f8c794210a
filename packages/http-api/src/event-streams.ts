/** Server-sent events: all listeners of a process, with their limits, one heartbeat and one end. */
import type { Request, Response } from "express";

import { printRetry } from "./event-format.ts";
import { type EventStream, Listener, type StreamLimits } from "./event-stream.ts";
import { problem } from "./problem.ts";
import { sendProblem } from "./reply.ts";
import { knownCaller } from "./wall/callers.ts";

export interface EventStreamsOptions extends Partial<StreamLimits> {
  /** How many listeners a process takes. */
  readonly streamsMax?: number;
  /** … and of one caller: whoever opens more than people do must not keep the others out. */
  readonly streamsPerCallerMax?: number;
  readonly heartbeatMs?: number;
  /** How often listeners are asked for anew: a token that was revoked or has expired hears nothing after so long. */
  readonly recheckMs?: number;
  /** When a listener comes back after a break. */
  readonly retryMs?: number;
  readonly random?: () => number;
  /** For logs and metrics. */
  readonly onChange?: (change: StreamChange) => void;
}

export type StreamChange = "opened" | "closed" | "refused" | "cut";

export interface EventStreams {
  readonly count: number;
  /** Begins a stream; null = it was refused, and the client has been told. */
  open(request: Request, response: Response): EventStream | null;
  /** Sends every listener away, to come back to another process or after the restart. No stream is opened any more. */
  close(): void;
}

const DEFAULTS = {
  streamsMax: 1_000,
  streamsPerCallerMax: 100,
  heartbeatMs: 15_000,
  recheckMs: 3_000,
  retryMs: 3_000,
  waitingMax: 100,
  silentBeatsMax: 4,
  random: Math.random,
  onChange: () => undefined,
};

/** `no-transform`: a compressing proxy would keep events until it has enough of them. */
const HEADERS = {
  "Content-Type": "text/event-stream; charset=utf-8",
  "Cache-Control": "no-store, no-transform",
  "X-Accel-Buffering": "no",
};

export function makeEventStreams(given: EventStreamsOptions = {}): EventStreams {
  const options = { ...DEFAULTS, ...given };
  /** With whose it is; null = anybody's. */
  const listeners = new Map<Listener, string | null>();
  let closing = false;
  // Only while somebody listens: an idle process has no timer of ours.
  let timers: readonly NodeJS.Timeout[] = [];
  const each =
    (act: (listener: Listener) => void): (() => void) =>
    () =>
      listeners.forEach((_caller, listener) => act(listener));
  const startTimers = (): readonly NodeJS.Timeout[] => [
    setInterval(
      each((listener) => listener.beat()),
      options.heartbeatMs,
    ).unref(),
    setInterval(
      // Whom we cannot ask about is asked about again.
      each((listener) => void listener.recheck().catch(() => undefined)),
      options.recheckMs,
    ).unref(),
  ];
  const openOf = (caller: string): number => [...listeners.values()].filter((each) => each === caller).length;
  const gone = (listener: Listener): void => {
    listeners.delete(listener);
    options.onChange("closed");
    if (listeners.size > 0) return;
    timers.forEach(clearInterval);
    timers = [];
  };

  return {
    get count() {
      return listeners.size;
    },
    open(request, response) {
      if (closing || listeners.size >= options.streamsMax) {
        options.onChange("refused");
        const why = closing
          ? "the service is about to stop"
          : "too many are listening already; ask for it from time to time";
        sendProblem(response, problem("UNAVAILABLE", why, { retryAfterSeconds: 10 }));
        return null;
      }
      const caller = knownCaller(response)?.id ?? null;
      if (caller !== null && openOf(caller) >= options.streamsPerCallerMax) {
        options.onChange("refused");
        const why = `you listen to ${options.streamsPerCallerMax} streams already: end one, or ask from time to time`;
        sendProblem(response, problem("TOO_MANY_REQUESTS", why, { retryAfterSeconds: 10 }));
        return null;
      }
      if (request.method === "HEAD") {
        response.status(200).set(HEADERS).end();
        return null;
      }
      request.socket.setNoDelay(true);
      request.socket.setTimeout(0);
      response.status(200).set(HEADERS);
      response.write(printRetry(options.retryMs));
      const listener = new Listener(response, request.get("Last-Event-ID") ?? null, options, () =>
        options.onChange("cut"),
      );
      listeners.set(listener, caller);
      options.onChange("opened");
      if (timers.length === 0) timers = startTimers();
      listener.closed.addEventListener("abort", () => gone(listener), { once: true });
      return listener;
    },
    close() {
      closing = true;
      // Not all at the same moment: whoever takes over must open a stream for each.
      for (const listener of listeners.keys()) listener.sendAway(options.retryMs * (0.5 + options.random()));
    },
  };
}

/** Whether the client would rather have events than a document. */
export const wantsEvents = (request: Request): boolean =>
  request.accepts(["application/json", "text/event-stream"]) === "text/event-stream";
