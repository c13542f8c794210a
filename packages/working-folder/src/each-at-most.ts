import { setMaxListeners } from "node:events";

/** "stop": begin no more. "abort": and end what runs. */
export type WalkAnswer = "go-on" | "stop" | "abort";

/**
 * Works on the items of a list of any length, so many at once and reading no further ahead. Each piece of work gets a signal that aborts with the
 * given ones or when another piece answers "abort". Returns when all that was begun has ended, and rejects, if it must,
 * only then.
 */
export async function eachAtMost<T>(
  items: AsyncIterable<T> | Iterable<T>,
  atMost: number,
  work: (item: T, signal: AbortSignal) => Promise<WalkAnswer>,
  signals: readonly AbortSignal[] = [],
): Promise<void> {
  const link = new LinkedAbort(signals);
  const running = new Set<Promise<void>>();
  const state = { stopped: false, failures: [] as unknown[] };
  const run = async (item: T): Promise<void> => {
    try {
      const answer = await work(item, link.signal);
      if (answer !== "go-on") state.stopped = true;
      if (answer === "abort") link.abort();
    } catch (error) {
      state.stopped = true;
      state.failures.push(error);
    }
  };
  try {
    for await (const item of items) {
      while (running.size >= atMost) await Promise.race(running);
      if (state.stopped) break;
      const one: Promise<void> = run(item).finally(() => running.delete(one));
      running.add(one);
    }
  } finally {
    await Promise.all(running);
    link.release();
  }
  if (state.failures.length > 0) throw state.failures[0];
}

/** What AbortSignal.any does, but lets go of long-lived signals: Node 20 keeps a trace of every signal joined to one. */
class LinkedAbort {
  readonly #controller = new AbortController();
  readonly #sources: readonly AbortSignal[];
  readonly #onAbort = (): void => this.abort();

  constructor(sources: readonly AbortSignal[]) {
    this.#sources = sources;
    setMaxListeners(0, this.#controller.signal); // one for each piece of work
    for (const source of sources) source.addEventListener("abort", this.#onAbort);
    if (sources.some(({ aborted }) => aborted)) this.abort();
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  abort(): void {
    this.#controller.abort();
  }

  release(): void {
    for (const source of this.#sources) source.removeEventListener("abort", this.#onAbort);
  }
}
