/** Runs that ended long ago leave the tree, shard by shard, every few minutes. */
import type { ShardOwner } from "@sluice/job-queue";
import type { RouterPorts } from "../ports.ts";

const EVERY_MS = 5 * 60_000;

type Owned = () => Iterable<readonly [number, ShardOwner]>;

export class Archiver {
  readonly #ports: Pick<RouterPorts, "archiving" | "later" | "log">;
  readonly #owned: Owned;
  #stopTimer: () => void = () => undefined;
  #isStopped = false;

  constructor(ports: Pick<RouterPorts, "archiving" | "later" | "log">, owned: Owned) {
    this.#ports = ports;
    this.#owned = owned;
  }

  start(): void {
    if (this.#ports.archiving === undefined || this.#isStopped) return;
    this.#stopTimer = this.#ports.later(this.#ports.archiving.everyMs ?? EVERY_MS, () => {
      this.#round().catch((error: unknown) => this.#ports.log.error({ err: error }, "runs could not be archived"));
    });
  }

  stop(): void {
    this.#isStopped = true;
    this.#stopTimer();
  }

  async #round(): Promise<void> {
    const { archiving, log } = this.#ports;
    if (archiving === undefined) return;
    for (const [shard, owner] of [...this.#owned()]) {
      try {
        const runs = await owner.emptyArchive(archiving.olderThanMs);
        if (runs > 0) log.info({ shard, runs }, "runs left the tree for the archive");
      } catch (error) {
        // The disk, say. They stay where they are; the next round tries again.
        log.error({ shard, err: error }, "runs could not be archived");
      }
    }
    this.start();
  }
}
