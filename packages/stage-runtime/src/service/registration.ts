/** The worker's node: ephemeral, written on change and seldom. The session is the heartbeat, not this node. */
import { formatTimestamp, paths, records, type WorkerRecord } from "@sluice/queue-core";
import { createMissing, type Node, type Op } from "@sluice/zookeeper";
import { hostname } from "node:os";
import { setTimeout as pause } from "node:timers/promises";
import type { Progress } from "../duty.ts";
import type { Scope } from "../engine/scope.ts";
import { Seldom } from "../engine/seldom.ts";
import { Waker } from "../engine/waker.ts";
import { type Holder, judgeHolder, type Self, waitsAtMostMs } from "./name-holder.ts";

/** The node is for people, and ZooKeeper is no place for large ones: of many jobs the longest in hand are shown. */
const SHOWN_JOBS_MAX = 200;
const REWRITE_EVERY_MS = 30_000;
/** Our name still belongs to a session that died and is not over yet. */
const NAME_TAKEN_RETRY_MS = 250;
const STILL_WAITING_EVERY_MS = 10_000;
/** Created and written once. */
const NEW_NODE_VERSION = 1;

/** What is where our node belongs. */
type Place =
  { readonly kind: "free" | "no-directory" | "no-answer" } | { readonly kind: "held"; readonly holder: Holder };

/** For the node of another to go. */
interface Wait {
  met: Holder["session"] | null;
  /** Since we met it, or last heard of a change of our own session. */
  undisturbedSinceMs: number;
}

export interface RegistrationParts {
  readonly scope: Scope;
  readonly version: string;
  /** Random, made once by this process. */
  readonly instance: string;
  readonly isDraining: () => boolean;
  readonly url?: string | undefined;
  /** Another worker has our name, and lives: neither would know its own claims from the other's. */
  readonly onNameTaken: (problem: string) => void;
  /** The worker's end, if it may come before that of the session. */
  readonly over?: AbortSignal;
  /** Of a worker that is not this process. */
  readonly remote?: Pick<WorkerRecord, "host" | "concurrency"> & { readonly via: NonNullable<WorkerRecord["via"]> };
}

export class Registration {
  readonly #parts: RegistrationParts;
  readonly #path: string;
  readonly #since: string;
  readonly #waker = new Waker();
  #nodeVersion = NEW_NODE_VERSION;

  constructor(parts: RegistrationParts) {
    this.#parts = parts;
    const { actor, queue, inHand } = parts.scope;
    this.#path = paths.worker(actor.stage, actor.worker);
    this.#since = formatTimestamp(queue.clock.nowMs());
    inHand.onChange(() => this.#waker.wake());
    const deaf = parts.scope.hung.onChange(() => void this.announce());
    queue.session.lost.addEventListener("abort", deaf, { once: true });
  }

  get #over(): AbortSignal {
    return this.#parts.over ?? this.#parts.scope.queue.session.lost;
  }

  /**
   * True when the node is there; false when the session ended first. The place is looked at before it is written to: the
   * server logs a refused transaction too, and this may go on for a minute.
   */
  async enter(): Promise<boolean> {
    const { queue, log } = this.#parts.scope;
    const { session, clock } = queue;
    const complaints = new Seldom(clock, STILL_WAITING_EVERY_MS);
    const wait: Wait = { met: null, undisturbedSinceMs: clock.monotonicMs() };
    const stopListening = session.onState(() => (wait.undisturbedSinceMs = clock.monotonicMs()));
    try {
      while (!this.#over.aborted) {
        const entered = await this.#enterAt(await this.#look(), wait, complaints);
        if (entered !== null) return entered;
        await pause(NAME_TAKEN_RETRY_MS);
      }
    } finally {
      stopListening();
    }
    log.info("the session ended before the worker was registered");
    return false;
  }

  /** null: not yet. */
  async #enterAt(place: Place, wait: Wait, complaints: Seldom): Promise<boolean | null> {
    switch (place.kind) {
      case "no-answer":
        return null;
      case "no-directory":
        return (await this.#makeDirectory()) && (await this.#make([])) ? true : null;
      case "free":
        return (await this.#make([])) ? true : null;
      case "held": {
        const nowMs = this.#parts.scope.queue.clock.monotonicMs();
        if (place.holder.session !== wait.met) {
          wait.met = place.holder.session;
          wait.undisturbedSinceMs = nowMs;
        }
        return await this.#enterOver(place.holder, nowMs - wait.undisturbedSinceMs, complaints);
      }
    }
  }

  /** null: not yet. */
  async #enterOver(holder: Holder, waitedMs: number, complaints: Seldom): Promise<boolean | null> {
    const { actor, log } = this.#parts.scope;
    const self = this.#self();
    switch (judgeHolder(holder, self, waitedMs)) {
      case "registered":
        return true;
      case "own-earlier":
        if (!(await this.#make([{ op: "delete", path: this.#path, version: holder.version }]))) return null;
        log.info("registered in place of this process's earlier session, whose locks may stand for a while");
        return true;
      case "wait":
        if (complaints.isTime())
          log.warn(
            { holder: holder.where, waited_ms: Math.round(waitedMs), at_most_ms: waitsAtMostMs(holder, self) },
            "cannot register yet: another worker is called the same, or was and its session is not over",
          );
        return null;
      case "rival":
        this.#parts.onNameTaken(`${actor.worker} is the name of a live worker, ${holder.where}: set another WORKER_ID`);
        return false;
    }
  }

  #self(): Self {
    const { session } = this.#parts.scope.queue;
    return { session: session.id, instance: this.#parts.instance, sessionTimeoutMs: session.timeoutMs };
  }

  async #make(before: readonly Op[]): Promise<boolean> {
    const data = records.worker.encode(this.#record());
    const answer = await this.#parts.scope.queue.committer.submit({
      rank: "operator",
      ops: [
        ...before,
        { op: "create", path: this.#path, data, ephemeral: true },
        // Written twice: the answer to a `set` tells the server's clock, by which all delays of the tree count.
        { op: "set", path: this.#path, data, version: 0 },
      ],
    });
    if (answer.ok) this.#nodeVersion = NEW_NODE_VERSION;
    return answer.ok;
  }

  /** Until the session is over. */
  async keep(): Promise<void> {
    const over = this.#over;
    const isOver = (): boolean => over.aborted;
    let written = this.#shown();
    while (!isOver()) {
      await this.#waker.wait(REWRITE_EVERY_MS, over);
      const now = this.#shown();
      if (now === written || isOver()) continue;
      await this.#write();
      written = now;
      await pause(REWRITE_EVERY_MS, undefined, { signal: over, ref: false }).catch(() => undefined);
    }
  }

  /** The node goes before the session does; one that is another's by now stays. */
  async leave(): Promise<void> {
    const { session, committer } = this.#parts.scope.queue;
    while (!session.lost.aborted) {
      const found = await session.get(this.#path);
      if (found.ok ? found.value.stat.ephemeralOwner !== session.id : found.code === "NO_NODE") return;
      if (found.ok) {
        const op: Op = { op: "delete", path: this.#path, version: found.value.stat.version };
        if ((await committer.submit({ rank: "operator", ops: [op] })).ok) return;
      }
      if (!(await session.untilConnected())) return;
    }
  }

  /**
   * Something that the other workers go by has changed. They watch who comes and goes, not what each writes, so the node
   * is made anew: that they are told.
   */
  async announce(): Promise<void> {
    if (!(await this.#make([{ op: "delete", path: this.#path, version: this.#nodeVersion }]))) await this.#write();
  }

  async #look(): Promise<Place> {
    const { queue, actor } = this.#parts.scope;
    const answers = await queue.session.readMany([{ get: paths.stageWorkers(actor.stage) }, { get: this.#path }]);
    if (!answers.ok) return { kind: "no-answer" };
    const [directory, node] = answers.value;
    if (directory?.kind === "none") return { kind: "no-directory" };
    if (node?.kind === "node") return { kind: "held", holder: holderIn(node.node) };
    return { kind: node?.kind === "none" ? "free" : "no-answer" };
  }

  /** A service outside the pipeline (admin, say) has no directory yet. */
  async #makeDirectory(): Promise<boolean> {
    const { queue, actor, log } = this.#parts.scope;
    const path = paths.stageWorkers(actor.stage);
    const fault = await createMissing(queue.session, [{ op: "create", path, data: Buffer.alloc(0) }]);
    if (fault !== null)
      log.warn({ path, code: fault.code, detail: fault.detail }, "the directory of these workers could not be made");
    return fault === null;
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
    const { scope, version, instance, isDraining, remote, url } = this.#parts;
    const hung = scope.hung.list();
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
      instance,
      session_timeout_ms: scope.queue.session.timeoutMs,
      ...(url === undefined ? {} : { url }),
      ...(remote === undefined ? {} : { ...remote, pid: 0, cpu_seconds: 0, memory_bytes: 0 }),
      ...(hung.length === 0 ? {} : { hung: [...hung] }),
      ...(progress.length === 0 ? {} : { progress: Object.fromEntries(progress) }),
    };
  }
}

function holderIn({ data, stat: { ephemeralOwner, version } }: Node): Holder {
  const record = records.worker.decode(data);
  return {
    session: ephemeralOwner,
    version,
    instance: record.ok ? (record.value.instance ?? null) : null,
    sessionTimeoutMs: record.ok ? (record.value.session_timeout_ms ?? null) : null,
    where: record.ok ? `process ${record.value.pid} on ${record.value.host}` : "of which nothing can be read",
  };
}

const NOTE_MAX = 100;

const brief = (progress: Progress): Progress =>
  progress.note === undefined ? progress : { ...progress, note: progress.note.slice(0, NOTE_MAX) };
