/** Reads server-sent events with fetch: EventSource cannot send a token, and does not exist in Node. */
import { type Answer, readAnswer } from "./answer.ts";
import { pause } from "./pause.ts";

export type EventsOf<T> = AsyncGenerator<Answer<T>, void, undefined>;

type Open = (headers: Readonly<Record<string, string>>, signal: AbortSignal) => Promise<Response | string>;

/** The service sends this name when nothing more will come. */
const END = "end";
/** … and this one when it stops itself: it says when to come back, and nothing about the thing listened to. */
const RECONNECT = "reconnect";
const RETRY_MS = 3_000;
/** The service beats every 15 s: a line that is silent for longer than four of them is dead. */
const SILENCE_MS = 60_000;

export interface ServerEvent {
  readonly name: string;
  readonly id: string | null;
  readonly data: string;
  readonly retryMs: number | null;
}

/** A refusal that will not change by itself ends the stream; a break in the line is mended by coming back. */
export async function* readEvents<T>(open: Open, aborted?: AbortSignal): EventsOf<T> {
  let lastId: string | null = null;
  let retryMs = RETRY_MS;
  while (aborted?.aborted !== true) {
    const watch = new Watchdog(aborted);
    try {
      const headers = { accept: "text/event-stream", ...(lastId === null ? {} : { "last-event-id": lastId }) };
      const response = await open(headers, watch.signal);
      if (typeof response === "string") yield { ok: false, kind: "unreachable", why: response };
      else if (!response.ok) {
        yield await readAnswer<T>(response);
        if (response.status !== 503 && response.status !== 429) return;
      } else {
        for await (const event of eventsIn(response, watch)) {
          lastId = event.id ?? lastId;
          retryMs = event.retryMs ?? retryMs;
          const value = event.data === "" ? null : (JSON.parse(event.data) as T | null);
          if (value !== null && event.name !== RECONNECT) yield { ok: true, value, status: 200 };
          if (event.name === END) return;
        }
      }
    } finally {
      watch.stop();
    }
    await pause(retryMs, aborted);
  }
}

/** Cuts a line on which nothing has come for too long. */
class Watchdog {
  readonly #controller = new AbortController();
  readonly #onAbort = (): void => this.stop();
  readonly #outer: AbortSignal | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(outer: AbortSignal | undefined) {
    this.#outer = outer;
    outer?.addEventListener("abort", this.#onAbort, { once: true });
    this.feed();
  }
  get signal(): AbortSignal {
    return this.#controller.signal;
  }
  feed(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.stop(), SILENCE_MS);
  }
  stop(): void {
    clearTimeout(this.#timer);
    this.#outer?.removeEventListener("abort", this.#onAbort);
    this.#controller.abort();
  }
}

async function* eventsIn(response: Response, watch: Watchdog): AsyncGenerator<ServerEvent> {
  const decoder = new TextDecoder();
  let rest = "";
  try {
    for await (const chunk of piecesOf(response)) {
      watch.feed();
      rest += decoder.decode(chunk, { stream: true });
      const blocks = rest.split(/\r?\n\r?\n/);
      rest = blocks.pop() ?? "";
      for (const block of blocks) yield parseEvent(block);
    }
  } catch {
    // The line broke: whoever reads comes back with the last id.
  }
}

async function* piecesOf(response: Response): AsyncGenerator<Uint8Array> {
  const reader = response.body?.getReader();
  if (reader === undefined) return;
  try {
    for (;;) {
      const { done, value } = (await reader.read()) as { done: boolean; value?: Uint8Array };
      if (done || value === undefined) return;
      yield value;
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

export function parseEvent(block: string): ServerEvent {
  const event = { name: "message", id: null as string | null, data: [] as string[], retryMs: null as number | null };
  for (const line of block.split(/\r?\n/)) {
    const [, field, value = ""] = /^([a-z]+)(?:: ?(.*))?$/.exec(line) ?? [];
    if (field === "event") event.name = value;
    if (field === "id") event.id = value;
    if (field === "data") event.data.push(value);
    if (field === "retry" && /^\d+$/.test(value)) event.retryMs = Number(value);
  }
  return { ...event, data: event.data.join("\n") };
}
