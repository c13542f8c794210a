import { OPEN_ACCESS, type Access } from "./access.ts";
import { openLink } from "./adapter.ts";
import type { SessionHooks } from "./hooks.ts";
import type { Handshake, LinkListener } from "./link.ts";
import { parseConnect, showServers } from "./paths.ts";
import { systemClock, type Clock, type Session } from "./port.ts";
import { LiveSession } from "./session.ts";
import { encodeAuth } from "./wire/requests.ts";

export interface SessionOptions {
  /** `host:port,host:port/chroot` */
  readonly connect: string;
  /** The session timeout to ask for; the server may grant another one. */
  readonly timeoutMs: number;
  /** How long to look for a server that answers; default: the session timeout. */
  readonly connectWithinMs?: number;
  readonly clock?: Clock;
  readonly hooks?: SessionHooks;
  /** Default: whoever reaches the server may do everything, and so may others with what this session creates. */
  readonly access?: Access;
  /** Gives up looking for a server. Has no effect on a session that is open. */
  readonly signal?: AbortSignal;
}

export type Opened = { readonly ok: true; readonly session: Session } | { readonly ok: false; readonly why: string };

/** As `openSession`, for those who cannot go on without: rejects with the reason. */
export async function connectSession(options: SessionOptions): Promise<Session> {
  const opened = await openSession(options);
  if (!opened.ok) throw new Error(opened.why);
  return opened.session;
}

/** Throws if the connect string is wrong; that nobody answers there is a value. */
export function openSession(options: SessionOptions): Promise<Opened> {
  return new Promise((resolve) => {
    new Opening(options, resolve);
  });
}

/** From the first attempt to the first handshake; then it only hands the link's words to the session. */
class Opening implements LinkListener {
  readonly #options: SessionOptions;
  readonly #target: ReturnType<typeof parseConnect>;
  readonly #link: ReturnType<typeof openLink>;
  readonly #access: Access;
  readonly #resolve: (opened: Opened) => void;
  readonly #deadline: NodeJS.Timeout;
  readonly #giveUp = (): void => this.#fail();
  #lastProblem = "no answer";
  #session: LiveSession | null = null;

  constructor(options: SessionOptions, resolve: (opened: Opened) => void) {
    this.#options = options;
    this.#resolve = resolve;
    this.#target = parseConnect(options.connect);
    const { timeoutMs, clock = systemClock, access = OPEN_ACCESS } = options;
    this.#access = access;
    this.#link = openLink(
      { servers: this.#target.servers, timeoutMs, monotonicMs: clock.monotonicMs, openSocket: access.openSocket },
      this,
    );
    this.#deadline = setTimeout(this.#giveUp, options.connectWithinMs ?? timeoutMs);
    if (options.signal?.aborted === true) this.#fail();
    options.signal?.addEventListener("abort", this.#giveUp);
  }

  greeting(lastZxid: bigint): readonly Buffer[] {
    const credentials = this.#access.credentials().map((each) => encodeAuth(each.scheme, Buffer.from(each.secret)));
    return [...credentials, ...(this.#session?.greeting(lastZxid) ?? [])];
  }

  connected(handshake: Handshake): void {
    if (this.#session !== null) {
      this.#session.connected(handshake);
      return;
    }
    this.#settle();
    const { clock = systemClock, hooks = {} } = this.#options;
    const { aclOf } = this.#access;
    this.#session = new LiveSession({ link: this.#link, clock, hooks, root: this.#target.chroot, aclOf, handshake });
    hooks.onState?.("connected", "connected");
    this.#resolve({ ok: true, session: this.#session });
  }

  heard(sentAtMs: number): void {
    this.#session?.heard(sentAtMs);
  }

  notified(event: Parameters<LinkListener["notified"]>[0]): void {
    this.#session?.notified(event);
  }

  disconnected(why: string): void {
    this.#lastProblem = why;
    this.#session?.disconnected(why);
  }

  refused(why: string): void {
    this.#lastProblem = why;
    if (this.#session === null) this.#fail();
    else this.#session.refused(why);
  }

  #settle(): void {
    clearTimeout(this.#deadline);
    this.#options.signal?.removeEventListener("abort", this.#giveUp);
  }

  #fail(): void {
    this.#settle();
    this.#link.end();
    const why = `no ZooKeeper answers at ${showServers(this.#target.servers)} (${this.#lastProblem})`;
    this.#resolve({ ok: false, why });
  }
}
