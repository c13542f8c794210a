/** Who runs a type: asked anew every few seconds, so that a new version counts soon and a busy type costs little. */
import type { FoundHandler, JobQueue } from "./queue.ts";

const FRESH_MS = 2_000;
const KEPT_MAX = 1_000;

export class Handlers {
  readonly #queue: Pick<JobQueue, "handler">;
  readonly #nowMs: () => number;
  readonly #kept = new Map<string, { readonly found: FoundHandler; readonly atMs: number }>();

  constructor(queue: Pick<JobQueue, "handler">, nowMs: () => number) {
    this.#queue = queue;
    this.#nowMs = nowMs;
  }

  async of(tenant: string, type: string): Promise<FoundHandler> {
    const key = `${tenant}\n${type}`;
    const kept = this.#kept.get(key);
    if (kept !== undefined && this.#nowMs() - kept.atMs < FRESH_MS) return kept.found;
    const found = await this.#queue.handler(tenant, type);
    // Not that there is none: a job that comes right after its handler would be put off for a whole retry.
    if (found.kind !== "found") return found;
    if (this.#kept.size >= KEPT_MAX) this.#kept.clear();
    this.#kept.set(key, { found, atMs: this.#nowMs() });
    return found;
  }
}
