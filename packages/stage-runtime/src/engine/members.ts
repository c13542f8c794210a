/** The workers of a stage that live now and take work: among them its queue is shared out. */
import { paths, records } from "@sluice/queue-core";
import type { Clock, Session, Watch } from "@sluice/zookeeper";
import { Watched } from "./watched.ts";

const MAX_AGE_MS = 30_000;
/** A dead worker's jobs become free for all at one moment; the others need not all look at that very moment. */
const JITTER_MS = 250;

interface Member {
  readonly name: string;
  readonly draining: boolean;
  readonly hung: readonly string[];
}

export class Members {
  readonly #self: string;
  readonly #workers: Watched<readonly Member[]>;
  readonly #drained: Watched<ReadonlySet<string>>;
  /** As far as was last told: who gets no answer must not take itself for the only one. */
  #lastWorkers: readonly Member[] = [];
  #lastDrained: ReadonlySet<string> = new Set();
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
    const common = { clock, maxAgeMs: MAX_AGE_MS, onChange: () => setTimeout(tell, JITTER_MS * random()).unref() };
    this.#workers = new Watched({ ...common, read: (watch) => readMembers(session, actor.stage, watch) });
    this.#drained = new Watched({ ...common, read: (watch) => readDrained(session, watch) });
  }

  onChange(listener: () => void): void {
    this.#listeners.add(listener);
  }

  /**
   * Those who take work. With ourselves also before our registration is seen: we have to do our part. Whoever drains
   * takes nothing new: what would fall to it is the others'.
   */
  async list(): Promise<readonly string[]> {
    return (await this.#active()).map(({ name }) => name);
  }

  /** Those who can do a sweep: not where it hangs. */
  async sweepers(sweep: string): Promise<readonly string[]> {
    const active = await this.#active();
    const able = active.filter(({ hung }) => !hung.includes(sweep));
    return (able.length > 0 ? able : active).map(({ name }) => name);
  }

  async #active(): Promise<readonly Member[]> {
    const [workers, drained] = await Promise.all([this.#workers.fresh(), this.#drained.fresh()]);
    this.#lastWorkers = workers ?? this.#lastWorkers;
    this.#lastDrained = drained ?? this.#lastDrained;
    const known = this.#lastWorkers;
    const active = known.filter(({ name, draining }) => !draining && !this.#lastDrained.has(name));
    const isKnown = known.some(({ name }) => name === this.#self);
    // Where all drain, somebody has to do what cannot wait (sweeps).
    const mustJoin = !isKnown || active.length === 0;
    return mustJoin ? [...active, { name: this.#self, draining: false, hung: [] }] : active;
  }
}

/** A worker whose node says nothing is one that takes its part. */
async function readMembers(
  session: Session,
  stage: string,
  watch: Watch | undefined,
): Promise<readonly Member[] | null> {
  const listed = await session.children(paths.stageWorkers(stage), watch);
  if (!listed.ok) return null;
  const { names } = listed.value;
  const answers = await session.readMany(names.map((name) => ({ get: paths.worker(stage, name) })));
  if (!answers.ok) return null;
  return names.map((name, i) => {
    const answer = answers.value[i];
    const record = answer?.kind === "node" ? records.worker.decode(answer.node.data) : null;
    const { draining = false, hung = [] } = record?.ok === true ? record.value : {};
    return { name, draining, hung };
  });
}

async function readDrained(session: Session, watch: Watch | undefined): Promise<ReadonlySet<string> | null> {
  const listed = await session.children(paths.drains, watch);
  return listed.ok ? new Set(listed.value.names) : null;
}
