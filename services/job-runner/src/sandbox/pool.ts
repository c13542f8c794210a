/** Contexts that wait for more of the same: never another tenant's, never for longer than they are worth. */
import type { Handler } from "@sluice/wire";
import type { Context } from "./context.ts";

export interface PoolPorts {
  readonly open: (handler: Handler) => Context;
  readonly jobsPerContext: number;
  readonly idleMs: number;
  readonly idleMax: number;
  readonly later: (ms: number, wake: () => void) => () => void;
  readonly onCount: (contexts: number) => void;
}

interface Idle {
  readonly key: string;
  readonly context: Context;
  readonly stop: () => void;
}

/**
 * Types of one tenant share a context if they say so by an `eid`; otherwise each version of a handler has its own. What a
 * context may reach is fixed when it is made, so it is part of what it is.
 */
export function contextKey({ tenant, type, version, eid, lang, allow, memoryMb }: Handler): string {
  const what = eid === undefined ? ["type", type, version] : ["eid", eid, lang];
  return JSON.stringify([tenant, ...what, allow ?? null, memoryMb ?? null]);
}

export class ContextPool {
  readonly #ports: PoolPorts;
  readonly #idle: Idle[] = [];
  readonly #all = new Set<Context>();
  #closed = false;

  constructor(ports: PoolPorts) {
    this.#ports = ports;
  }

  /** One that waits, or a new one. */
  take(handler: Handler): { readonly context: Context; readonly isNew: boolean } {
    const key = contextKey(handler);
    const at = this.#idle.findLastIndex((idle) => idle.key === key && idle.context.isReusable);
    const [found] = at < 0 ? [] : this.#idle.splice(at, 1);
    if (found !== undefined) {
      found.stop();
      return { context: found.context, isNew: false };
    }
    const context = this.#ports.open(handler);
    this.#all.add(context);
    this.#ports.onCount(this.#all.size);
    context.gone.then(() => this.#forget(context)).catch(() => undefined);
    return { context, isNew: true };
  }

  giveBack(handler: Handler, context: Context): void {
    if (this.#closed || !context.isReusable || context.jobs >= this.#ports.jobsPerContext) {
      context.end("ended", "used up");
      return;
    }
    const stop = this.#ports.later(this.#ports.idleMs, () => this.#retire(context));
    this.#idle.push({ key: contextKey(handler), context, stop });
    const oldest = this.#idle.length > this.#ports.idleMax ? this.#idle[0] : undefined;
    if (oldest !== undefined) this.#retire(oldest.context);
  }

  async close(): Promise<void> {
    this.#closed = true;
    const all = [...this.#all];
    for (const context of all) context.end("ended", "the runner ends");
    await Promise.all(all.map(({ gone }) => gone));
  }

  #retire(context: Context): void {
    context.end("ended", "idle");
    this.#forget(context);
  }

  #forget(context: Context): void {
    const at = this.#idle.findIndex((idle) => idle.context === context);
    for (const idle of at < 0 ? [] : this.#idle.splice(at, 1)) idle.stop();
    this.#all.delete(context);
    this.#ports.onCount(this.#all.size);
  }
}
