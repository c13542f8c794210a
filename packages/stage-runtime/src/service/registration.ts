/** The worker's node: ephemeral, written on change and seldom. The session is the heartbeat, not this node. */
import { formatTimestamp, paths, records, type WorkerRecord } from "@sluice/queue-core";
import type { Session } from "@sluice/zookeeper";
import { hostname } from "node:os";
import { setTimeout as pause } from "node:timers/promises";
import type { Progress } from "../duty.ts";
import type { Scope } from "../engine/scope.ts";
import { Waker } from "../engine/waker.ts";

/** The node is for people, and ZooKeeper is no place for large ones: of many jobs the longest in hand are shown. */
const SHOWN_JOBS_MAX = 200;
const REWRITE_EVERY_MS = 30_000;
/** Our name still belongs to a session that died and is not over yet. */
const NAME_TAKEN_RETRY_MS = 250;
/** Session timeouts after which whoever still has our name is alive: the session of a dead one would be over. */
const ALIVE_AFTER_TIMEOUTS = 2;

export interface RegistrationParts {
  readonly scope: Scope;
  readonly version: string;
  readonly sessionTimeoutMs: number;
  readonly isDraining: () => boolean;
  /** Another worker has our name, and lives: neither would know its own claims from the other's. */
  readonly onNameTaken: (problem: string) => void;
}

/** Who has our name, and since when we have met them. */
interface Holder {
  readonly session: Session["id"];
  readonly metMs: number;
  readonly where: string;
}

export class Registration {
  readonly #parts: RegistrationParts;
  readonly #path: string;
  readonly #since: string;
  readonly #waker = new Waker();
  /** As made: created and written once. */
  #nodeVersion = 1;

  constructor(parts: RegistrationParts) {
    this.#parts = parts;
    const { actor, queue, inHand } = parts.scope;
    this.#path = paths.worker(actor.stage, actor.worker);
    this.#since = formatTimestamp(queue.clock.nowMs());
    inHand.onChange(() => this.#waker.wake());
  }

  /** True when the node is there; false when the session ended first. */
  async enter(): Promise<boolean> {
    const { queue, actor, log } = this.#parts.scope;
    let holder: Holder | null = null;
    while (!queue.session.lost.aborted) {
      const data = records.worker.encode(this.#record());
      const answer = await queue.committer.submit({
        rank: "operator",
        // Written twice: the answer to a `set` tells the server's clock, by which all delays of the tree count.
        ops: [
          { op: "create", path: this.#path, data, ephemeral: true },
          { op: "set", path: this.#path, data, version: 0 },
        ],
      });
      if (answer.ok) return true;
      if (answer.code === "NO_NODE") await this.#makeParent();
      const met = await this.#holder();
      if (met?.session === queue.session.id) return true;
      if (met !== null && met.session !== holder?.session) {
        holder = met;
        log.warn({ worker: actor.worker, holder: met.where }, "cannot register yet: another worker is called the same");
      }
      if (holder !== null && met !== null && this.#isAlive(holder)) {
        this.#parts.onNameTaken(`${actor.worker} is the name of a live worker, ${holder.where}: set another WORKER_ID`);
        return false;
      }
      await pause(NAME_TAKEN_RETRY_MS);
    }
    return false;
  }

  /** Until the session is over. */
  async keep(): Promise<void> {
    const { session } = this.#parts.scope.queue;
    let written = this.#shown();
    while (!session.lost.aborted) {
      await this.#waker.wait(REWRITE_EVERY_MS, session.lost);
      const now = this.#shown();
      if (now === written) continue;
      await this.#write();
      written = now;
      await pause(REWRITE_EVERY_MS, undefined, { signal: session.lost, ref: false }).catch(() => undefined);
    }
  }

  /** Draining is worth a line at once: people look for it. */
  async announce(): Promise<void> {
    await this.#write();
  }

  /** null: nobody has it, or nobody answers. */
  async #holder(): Promise<Holder | null> {
    const { session, clock } = this.#parts.scope.queue;
    const node = await session.get(this.#path);
    if (!node.ok) return null;
    const record = records.worker.decode(node.value.data);
    const where = record.ok ? `process ${record.value.pid} on ${record.value.host}` : "of which nothing can be read";
    return { session: node.value.stat.ephemeralOwner, metMs: clock.monotonicMs(), where };
  }

  #isAlive({ metMs }: Holder): boolean {
    const { scope, sessionTimeoutMs } = this.#parts;
    return scope.queue.clock.monotonicMs() - metMs > ALIVE_AFTER_TIMEOUTS * sessionTimeoutMs;
  }

  /** A service outside the pipeline (admin, say) has no directory yet. */
  async #makeParent(): Promise<void> {
    const { queue, actor } = this.#parts.scope;
    const path = paths.stageWorkers(actor.stage);
    await queue.committer.submit({ rank: "operator", ops: [{ op: "create", path, data: Buffer.alloc(0) }] });
  }

  async #write(): Promise<void> {
    const { queue } = this.#parts.scope;
    const data = records.worker.encode(this.#record());
    const answer = await queue.committer.submit({
      rank: "claim",
      ops: [{ op: "set", path: this.#path, data, version: this.#nodeVersion }],
    });
    if (answer.ok) {
      this.#nodeVersion += 1;
      return;
    }
    const now = await queue.session.exists(this.#path);
    if (now.ok && now.value !== null) this.#nodeVersion = now.value.version;
  }

  /** What a rewrite is for; cpu and memory change all the time and travel along. */
  #shown(): string {
    const { scope, isDraining } = this.#parts;
    return JSON.stringify([isDraining(), scope.inHand.list()]);
  }

  #record(): WorkerRecord {
    const { scope, version, isDraining } = this.#parts;
    const { user, system } = process.cpuUsage();
    const jobs = scope.inHand.list().slice(0, SHOWN_JOBS_MAX);
    const progress = jobs.flatMap(({ job, progress: shown }) => (shown === null ? [] : [[job, brief(shown)] as const]));
    return {
      host: hostname(),
      pid: process.pid,
      version,
      since: this.#since,
      jobs: jobs.map(({ job }) => job),
      concurrency: scope.settings.concurrency,
      cpu_seconds: Math.round((user + system) / 1e4) / 100,
      memory_bytes: process.memoryUsage.rss(),
      draining: isDraining(),
      ...(progress.length === 0 ? {} : { progress: Object.fromEntries(progress) }),
    };
  }
}

const NOTE_MAX = 100;

const brief = (progress: Progress): Progress =>
  progress.note === undefined ? progress : { ...progress, note: progress.note.slice(0, NOTE_MAX) };
