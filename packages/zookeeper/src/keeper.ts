import { setTimeout as pause } from "node:timers/promises";
import { backoffMs, FLAPPING_BACKOFF, USUAL_BACKOFF, type Backoff } from "./backoff.ts";
import { ensureChroot } from "./chroot.ts";
import { FlapGuard } from "./flap-guard.ts";
import { openSession, type Opened, type SessionOptions } from "./open-session.ts";
import { parseConnect } from "./paths.ts";
import { systemClock, type Session } from "./port.ts";

export interface KeeperOptions extends Omit<SessionOptions, "signal"> {
  readonly random?: () => number;
  readonly backoff?: Backoff;
  /** Why there is no session just now, for people, at each failed attempt. */
  /** The link began to break again and again, or has been steady again for a while. */
  readonly onFlapping?: (flapping: boolean) => void;
  readonly onTrouble?: (why: string, retryInMs: number) => void;
}

/** Keeps a process in a session: when one is lost another one is made, for as long as it takes. */
export interface SessionKeeper {
  /** null while there is none. It may be suspended; a lost one is never shown. */
  current(): Session | null;
  /** More than five disconnects in five minutes: do not call yourself ready. */
  readonly flapping: boolean;
  /** Called with the present session, if there is one, and with each later one; returns the way to stop. */
  onSession(listener: (session: Session) => void): () => void;
  /** The present or the next session; null when the keeper is closed first. */
  untilSession(): Promise<Session | null>;
  /** Ends the session and makes no other one. */
  close(): Promise<void>;
}

/** Starts at once. Throws if the connect string is wrong. */
export function keepSession(options: KeeperOptions): SessionKeeper {
  parseConnect(options.connect);
  return new Keeper(options);
}

const FLAPPING_LOOK_MS = 10_000;

class Keeper implements SessionKeeper {
  readonly #options: KeeperOptions;
  readonly #nowMs: () => number;
  readonly #flaps = new FlapGuard();
  readonly #listeners = new Set<(session: Session) => void>();
  readonly #closed = new AbortController();
  readonly #running: Promise<void>;
  #current: Session | null = null;
  #rootReady = false;
  #toldFlapping = false;

  constructor(options: KeeperOptions) {
    this.#options = options;
    this.#nowMs = (options.clock ?? systemClock).monotonicMs;
    this.#running = this.#run();
  }

  current(): Session | null {
    return this.#current?.state === "lost" ? null : this.#current;
  }

  get flapping(): boolean {
    return this.#flaps.flapping(this.#nowMs());
  }

  onSession(listener: (session: Session) => void): () => void {
    this.#listeners.add(listener);
    const session = this.current();
    if (session !== null) listener(session);
    return () => this.#listeners.delete(listener);
  }

  untilSession(): Promise<Session | null> {
    const session = this.current();
    if (session !== null || this.#isClosed()) return Promise.resolve(session);
    return new Promise((resolve) => {
      const onClosed = (): void => settle(null);
      const settle = (found: Session | null): void => {
        this.#listeners.delete(settle);
        this.#closed.signal.removeEventListener("abort", onClosed);
        resolve(found);
      };
      this.#listeners.add(settle);
      this.#closed.signal.addEventListener("abort", onClosed);
    });
  }

  async close(): Promise<void> {
    this.#closed.abort();
    await this.#current?.close();
    await this.#running;
  }

  /** Only a session that outlived its timeout ends a row of failures: one refused at once must not be asked for at once. */
  async #run(): Promise<void> {
    let failures = 0;
    while (!this.#isClosed()) {
      const startedMs = this.#nowMs();
      const opened = await this.#open();
      const why = opened.ok ? await this.#hold(opened.session) : opened.why;
      const lastedMs = this.#nowMs() - startedMs;
      failures = opened.ok && lastedMs > opened.session.timeoutMs ? 0 : failures + 1;
      if (!this.#isClosed()) await this.#rest(why, failures);
    }
  }

  #isClosed(): boolean {
    return this.#closed.signal.aborted;
  }

  async #open(): Promise<Opened> {
    const options = { ...this.#options, signal: this.#closed.signal };
    if (!this.#rootReady) {
      const problem = await ensureChroot(options);
      if (problem !== null) return { ok: false, why: problem };
      this.#rootReady = true;
    }
    return openSession(options);
  }

  /** Until it is lost; answers why it was. */
  async #hold(session: Session): Promise<string> {
    this.#current = session;
    session.onState((state) => {
      if (state !== "suspended") return;
      this.#flaps.note(this.#nowMs());
      this.#tellFlapping();
    });
    const lost = new Promise<void>((resolve) => {
      session.lost.addEventListener("abort", () => resolve(), { once: true });
      if (session.lost.aborted) resolve();
    });
    if (this.#isClosed()) await session.close();
    else for (const listener of [...this.#listeners]) listener(session);
    await lost;
    this.#current = null;
    return session.lost.reason instanceof Error ? session.lost.reason.message : "ZooKeeper session lost";
  }

  #tellFlapping(): void {
    if (this.#toldFlapping || !this.flapping) return;
    this.#toldFlapping = true;
    this.#options.onFlapping?.(true);
    const look = setInterval(() => {
      if (this.flapping && !this.#isClosed()) return;
      clearInterval(look);
      this.#toldFlapping = false;
      if (!this.#isClosed()) this.#options.onFlapping?.(false);
    }, FLAPPING_LOOK_MS).unref();
  }

  async #rest(why: string, failures: number): Promise<void> {
    const { random = Math.random, backoff = USUAL_BACKOFF, onTrouble } = this.#options;
    const retryInMs = backoffMs(this.flapping ? FLAPPING_BACKOFF : backoff, failures, random());
    onTrouble?.(why, retryInMs);
    await pause(retryInMs, undefined, { signal: this.#closed.signal }).catch(() => undefined);
  }
}
