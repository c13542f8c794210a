/** One listener: what it cannot take yet waits, within bounds. */
import type { Response } from "express";

import { printComment, printEvent, printRetry, type ServerEvent } from "./event-format.ts";
import { isStillCaller } from "./wall/callers.ts";

export interface StreamLimits {
  /** Events that wait for a slow listener; one more and it is cut off, to come back by itself. */
  readonly waitingMax: number;
  /** Heartbeats that a listener may leave unread. */
  readonly silentBeatsMax: number;
}

export interface EventStream {
  /** What the listener saw last, before a break; null at its first visit. */
  readonly lastEventId: string | null;
  /** Aborts when the listener has gone, was cut off, or the stream has ended. */
  readonly closed: AbortSignal;
  /** An event with `replaces` takes the place of a waiting one of the same word: only the newest state counts. */
  send(event: ServerEvent, replaces?: string): void;
  /** Says everything that waits, then ends. */
  end(): void;
}

export class Listener implements EventStream {
  readonly lastEventId: string | null;
  readonly #response: Response;
  readonly #limits: StreamLimits;
  readonly #onCut: () => void;
  readonly #gone = new AbortController();
  #waiting: { readonly text: string; readonly replaces: string | null }[] = [];
  #blocked = false;
  #ending = false;
  #silentBeats = 0;

  constructor(response: Response, lastEventId: string | null, limits: StreamLimits, onCut: () => void) {
    this.#response = response;
    this.lastEventId = lastEventId;
    this.#limits = limits;
    this.#onCut = onCut;
    response.on("close", () => this.#gone.abort());
    response.on("error", () => this.#gone.abort());
    response.on("drain", () => this.#drained());
  }

  get closed(): AbortSignal {
    return this.#gone.signal;
  }

  send(event: ServerEvent, replaces?: string): void {
    if (this.#over) return;
    if (!this.#blocked) {
      this.#write(printEvent(event));
      return;
    }
    if (replaces !== undefined) this.#waiting = this.#waiting.filter((other) => other.replaces !== replaces);
    this.#waiting.push({ text: printEvent(event), replaces: replaces ?? null });
    if (this.#waiting.length > this.#limits.waitingMax) this.#cut();
  }

  end(): void {
    if (this.#over) return;
    this.#ending = true;
    if (!this.#blocked) this.#response.end();
  }

  /** Whoever may listen no longer hears nothing more, not even what waits. Why not, the answer to their next request says. */
  async recheck(): Promise<void> {
    if (await isStillCaller(this.#response).catch(() => true)) return;
    if (this.#over) return;
    this.#ending = true;
    this.#waiting = [];
    this.#response.end();
    if (this.#blocked) this.#response.destroy();
  }

  beat(): void {
    if (this.#over) return;
    if (!this.#blocked) this.#write(printComment("still here"));
    else if (++this.#silentBeats > this.#limits.silentBeatsMax) this.#cut();
  }

  /** Tells when to come back, and ends: to somebody who does not read, without waiting. */
  sendAway(retryMs: number): void {
    if (this.#over) return;
    this.#ending = true;
    this.#response.end(
      printRetry(retryMs) + printEvent({ event: "reconnect", data: { after_ms: Math.round(retryMs) } }),
    );
    if (this.#blocked) this.#response.destroy();
  }

  get #over(): boolean {
    return this.#ending || this.#gone.signal.aborted;
  }

  #write(text: string): void {
    this.#blocked = !this.#response.write(text);
  }

  #drained(): void {
    this.#blocked = false;
    this.#silentBeats = 0;
    this.#writeWaiting();
    if (this.#ending && this.#waiting.length === 0 && !this.#response.writableEnded) this.#response.end();
  }

  #writeWaiting(): void {
    const next = this.#waiting.shift();
    if (next === undefined) return;
    this.#write(next.text);
    if (!this.#blocked) this.#writeWaiting();
  }

  #cut(): void {
    this.#onCut();
    this.#waiting = [];
    this.#response.destroy();
  }
}
