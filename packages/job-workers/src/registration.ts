/**
 * A worker's own hold on its entry. It is the only writer as long as it lives; whoever declares it dead writes once, and
 * from then on the version that we believe in is wrong: a worker declared dead learns it by its next write.
 */
import type { Session } from "@sluice/zookeeper";
import { encodeEntry, type Stats, type WorkerEntry } from "./entry.ts";
import { paths } from "./paths.ts";
import { writeOnce } from "./write.ts";

export interface RegistrationPorts {
  readonly session: Session;
  readonly nowMs: () => number;
}

export class Registration {
  readonly #ports: RegistrationPorts;
  readonly #over = new AbortController();
  #entry: WorkerEntry;
  #version: number;
  #writing: Promise<void> = Promise.resolve();

  constructor(ports: RegistrationPorts, entry: WorkerEntry, version: number) {
    this.#ports = ports;
    this.#entry = entry;
    this.#version = version;
    const onLost = (): void => this.#end("the session is lost");
    ports.session.lost.addEventListener("abort", onLost, { once: true });
    if (ports.session.lost.aborted) onLost();
  }

  get entry(): WorkerEntry {
    return this.#entry;
  }

  /** Aborts when this worker is no longer one: declared dead, or its session is lost. Whatever it has in hand is not its own any more. */
  get over(): AbortSignal {
    return this.#over.signal;
  }

  heartbeat(stats: Stats): Promise<void> {
    return this.#write({ Stats: stats });
  }

  /** "" when idle. */
  setJob(job: string): Promise<void> {
    return this.#write({ Job: job });
  }

  /** The entry goes, and with it what could be harvested: for an orderly end. */
  async leave(): Promise<void> {
    await this.#inTurn(async () => {
      const { session } = this.#ports;
      await session.multi([
        { op: "delete", path: paths.alive(this.#entry.Name), version: 0 },
        { op: "delete", path: paths.worker(this.#entry.Name), version: this.#version },
      ]);
      this.#end("left");
    });
  }

  #write(change: Partial<WorkerEntry>): Promise<void> {
    return this.#inTurn(async () => {
      if (this.over.aborted) return;
      const next = { ...this.#entry, ...change, Heartbeat: new Date(this.#ports.nowMs()).toISOString() };
      const data = encodeEntry(next);
      const path = paths.worker(next.Name);
      const op = { op: "set", path, data, version: this.#version } as const;
      // Our session's own child: another one of our name cannot have replaced it under us.
      const guard = { op: "check", path: paths.alive(next.Name), version: 0 } as const;
      const written = await writeOnce(this.#ports.session, [guard, op], path, data);
      if (written === "refused") this.#end("declared dead");
      if (written !== "done") return;
      this.#entry = next;
      this.#version += 1;
    });
  }

  /** One write at a time: each builds on the version that the one before made. */
  #inTurn(act: () => Promise<void>): Promise<void> {
    this.#writing = this.#writing.then(act);
    return this.#writing;
  }

  #end(why: string): void {
    if (!this.over.aborted) this.#over.abort(new Error(why));
  }
}
