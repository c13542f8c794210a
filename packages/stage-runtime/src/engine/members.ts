/** The workers of a stage that live now: among them its queue is shared out. */
import { paths } from "@sluice/queue-core";
import type { Clock, Session } from "@sluice/zookeeper";
import { Watched } from "./watched.ts";

const MAX_AGE_MS = 30_000;
/** A dead worker's jobs become free for all at one moment; the others need not all look at that very moment. */
const JITTER_MS = 250;

export class Members {
  readonly #self: string;
  readonly #workers: Watched<readonly string[]>;
  readonly #listeners = new Set<() => void>();

  constructor(
    session: Session,
    actor: { readonly stage: string; readonly worker: string },
    clock: Clock,
    random: () => number,
  ) {
    this.#self = actor.worker;
    const tell = (): void => {
      for (const listener of this.#listeners) listener();
    };
    this.#workers = new Watched({
      clock,
      maxAgeMs: MAX_AGE_MS,
      onChange: () => setTimeout(tell, JITTER_MS * random()).unref(),
      read: async (watch) => {
        const answer = await session.children(paths.stageWorkers(actor.stage), watch);
        return answer.ok ? answer.value.names : null;
      },
    });
  }

  onChange(listener: () => void): void {
    this.#listeners.add(listener);
  }

  /** Always with ourselves: a worker whose registration is not seen yet still has to do its part. */
  async list(): Promise<readonly string[]> {
    const workers = (await this.#workers.fresh()) ?? [];
    return workers.includes(this.#self) ? workers : [...workers, this.#self];
  }
}
