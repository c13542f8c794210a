import { setMaxListeners } from "node:events";
import { PendingCalls, type CallOutcome } from "./calls.ts";
import type { OperationName, SessionHooks } from "./hooks.ts";
import { tooLarge } from "./limits.ts";
import type { Handshake, Link } from "./link.ts";
import type { Clock, Fault, SessionState } from "./port.ts";
import { callDeadlineMs, stateOf, watchdogIntervalMs } from "./session-health.ts";
import { ERR, faultOf } from "./wire/codes.ts";
import { Malformed } from "./wire/jute.ts";
import type { ReplyHeader } from "./wire/replies.ts";
import { encodeCloseSession, type EncodedRequest } from "./wire/requests.ts";

export interface LifeParts {
  readonly link: Link;
  readonly clock: Clock;
  readonly hooks: SessionHooks;
  readonly handshake: Handshake;
}

/** A request, and what its answer or the lack of one means to who asked. */
export interface Question<T extends { readonly ok: true } | Fault> {
  readonly operation: OperationName;
  readonly request: EncodedRequest;
  readonly onReply: (reply: ReplyHeader) => T;
  readonly onSilence: (fault: Fault) => T;
}

/** The life of a session: its states, its watchdog, and the rule that every question gets exactly one answer in time. */
export class SessionLife {
  readonly #parts: LifeParts;
  readonly #calls: PendingCalls;
  readonly #listeners = new Set<(state: SessionState) => void>();
  readonly #over = new AbortController();
  #state: SessionState = "connected";
  #timeoutMs: number;
  #watchdog: NodeJS.Timeout;
  #linkUp = true;
  #heardAtMs: number;
  #closing: Promise<void> | null = null;

  constructor(parts: LifeParts) {
    this.#parts = parts;
    this.#calls = new PendingCalls(parts.link);
    this.#timeoutMs = parts.handshake.timeoutMs;
    this.#heardAtMs = parts.handshake.askedAtMs;
    this.#watchdog = this.#startWatchdog();
    // Every piece of work in flight listens: hundreds are normal.
    setMaxListeners(0, this.#over.signal);
  }

  get timeoutMs(): number {
    return this.#timeoutMs;
  }

  get state(): SessionState {
    this.#review();
    return this.#state;
  }

  get lost(): AbortSignal {
    return this.#over.signal;
  }

  onState(listener: (state: SessionState) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  untilConnected(): Promise<boolean> {
    // Nothing more can be asked: whoever waits for a connection in order to ask again would be told "yes", and refused, for ever.
    if (this.#closing !== null) return Promise.resolve(false);
    const now = this.state;
    if (now !== "suspended") return Promise.resolve(now === "connected");
    return new Promise((resolve) => {
      const stop = this.onState((state) => {
        if (state === "suspended") return;
        stop();
        resolve(state === "connected");
      });
    });
  }

  nowMs(): number {
    return this.#parts.clock.monotonicMs();
  }

  ask<T extends { readonly ok: true } | Fault>(question: Question<T>): Promise<T> {
    this.#review();
    const fault = this.#overFault() ?? tooLarge(question.request.frame.length);
    return fault === null ? this.#send(question) : Promise.resolve(question.onSilence(fault));
  }

  /** What an answer other than "fine" says. */
  fault(reply: ReplyHeader, subject: string): Fault {
    if (reply.err !== ERR.sessionExpired) return faultOf(reply.err, subject);
    this.#become("lost", "session expired");
    return { ok: false, code: "SESSION_LOST", detail: subject };
  }

  close(): Promise<void> {
    this.#closing ??= this.#sendClose();
    return this.#closing;
  }

  // What follows is called by the link.

  connected(handshake: Handshake): void {
    this.#linkUp = true;
    this.#agreeOn(handshake.timeoutMs);
    this.heard(handshake.askedAtMs);
    this.#become("connected", "reconnected");
  }

  heard(sentAtMs: number): void {
    this.#heardAtMs = Math.max(this.#heardAtMs, sentAtMs);
    this.mindTheGap();
  }

  /** Answers and events that waited for a process that was stopped too long must not set off its work again. */
  mindTheGap(): void {
    if (this.#judged() === "lost") this.#review();
  }

  disconnected(why: string): void {
    this.#linkUp = false;
    this.#become("suspended", why);
  }

  refused(why: string): void {
    this.#become("lost", why);
  }

  // The machine.

  #startWatchdog(): NodeJS.Timeout {
    return setInterval(() => this.#watch(), watchdogIntervalMs(this.#timeoutMs));
  }

  /** Servers of an ensemble may be configured differently. */
  #agreeOn(timeoutMs: number): void {
    if (timeoutMs === this.#timeoutMs) return;
    this.#timeoutMs = timeoutMs;
    clearInterval(this.#watchdog);
    this.#watchdog = this.#startWatchdog();
  }

  #watch(): void {
    this.#review();
    if (this.#state === "lost") return;
    this.#parts.link.ping();
    this.#calls.expire(this.nowMs());
  }

  /** Also before each call, for a process that was stopped may run other code before its watchdog. */
  #review(): void {
    if (this.#state === "lost") return;
    const next = this.#judged();
    const why = `no answer for ${Math.round(this.#silenceMs())} ms`;
    if (next === "lost") this.#become("lost", why);
    else if (next === "suspended" && this.#linkUp) this.#parts.link.drop(why);
  }

  #silenceMs(): number {
    return this.nowMs() - this.#heardAtMs;
  }

  #judged(): SessionState {
    return stateOf({ timeoutMs: this.#timeoutMs, silenceMs: this.#silenceMs(), linkUp: this.#linkUp });
  }

  #become(state: SessionState, why: string): void {
    if (this.#state === state || this.#state === "lost") return;
    this.#state = state;
    if (state === "lost") this.#finish(why);
    this.#parts.hooks.onState?.(state, why);
    for (const listener of [...this.#listeners]) listener(state);
  }

  #finish(why: string): void {
    clearInterval(this.#watchdog);
    // Before the link ends, which would answer the calls that were sent with "unknown": there is nothing to resolve.
    this.#calls.abandon("SESSION_LOST", why);
    this.#parts.link.end();
    this.#over.abort(new Error(`ZooKeeper session lost: ${why}`));
  }

  #overFault(): Fault | null {
    if (this.#state !== "lost" && this.#closing === null) return null;
    return { ok: false, code: "SESSION_LOST", detail: "the session is over" };
  }

  #send<T extends { readonly ok: true } | Fault>(question: Question<T>): Promise<T> {
    const startedMs = this.nowMs();
    return new Promise((resolve) => {
      this.#calls.start(question.request, startedMs + callDeadlineMs(this.#timeoutMs), (outcome) => {
        const answer = this.#answer(question, outcome);
        const code = answer.ok ? "OK" : answer.code;
        this.#parts.hooks.onOperation?.(question.operation, this.nowMs() - startedMs, code);
        resolve(answer);
      });
    });
  }

  #answer<T extends { readonly ok: true } | Fault>({ onReply, onSilence }: Question<T>, outcome: CallOutcome): T {
    if ("silence" in outcome) return onSilence({ ok: false, code: outcome.silence, detail: outcome.detail });
    try {
      return onReply(outcome.reply);
    } catch (error) {
      if (!(error instanceof Malformed)) throw error;
      this.#parts.link.drop(`malformed answer: ${error.message}`);
      return onSilence({ ok: false, code: "UNKNOWN", detail: "malformed answer" });
    }
  }

  async #sendClose(): Promise<void> {
    if (this.state === "lost") return;
    await this.#send<{ readonly ok: true } | Fault>({
      operation: "close",
      request: encodeCloseSession(),
      onReply: () => ({ ok: true }),
      onSilence: (fault) => fault,
    });
    this.#become("lost", "closed");
  }
}
