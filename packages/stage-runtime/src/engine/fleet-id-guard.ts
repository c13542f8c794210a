/** Tokens and versions of another history (a restored snapshot, a wiped disk) must not be used: see /fleet/id. */
import { paths } from "@sluice/queue-core";
import type { Clock, Session } from "@sluice/zookeeper";

const EVERY_MS = 1_000;

export class FleetIdGuard {
  readonly #session: Session;
  readonly #known: string;
  readonly #clock: Clock;
  readonly #onChanged: (problem: string) => void;
  #checkedAtMs = -Infinity;
  /** One and the same function: the client keeps it once, however often it is armed. */
  readonly #watch = (): void => {
    this.#checkedAtMs = -Infinity;
    void this.check();
  };

  constructor(session: Session, known: string, clock: Clock, onChanged: (problem: string) => void) {
    this.#session = session;
    this.#known = known;
    this.#clock = clock;
    this.#onChanged = onChanged;
  }

  /** At every poll, and no more than once a second; a watch tells those who have nothing to poll. */
  async check(): Promise<void> {
    const nowMs = this.#clock.monotonicMs();
    if (nowMs - this.#checkedAtMs < EVERY_MS) return;
    this.#checkedAtMs = nowMs;
    const node = await this.#session.get(paths.fleetId, this.#watch);
    if (!node.ok && node.code !== "NO_NODE") return;
    const found = node.ok ? node.value.data.toString("utf8").trim() : "gone";
    if (found !== this.#known) this.#onChanged(`${paths.fleetId} was ${this.#known} and is ${found}`);
  }
}
