import { connect as connectTcp, type Socket } from "node:net";
import { openLink } from "./adapter.ts";
import type { SessionHooks } from "./hooks.ts";
import type { Handshake, LinkListener } from "./link.ts";
import { parseConnect, showServers, type Server } from "./paths.ts";
import { systemClock, type Clock, type Session } from "./port.ts";
import { LiveSession } from "./session.ts";
import { encodeAuth, OPEN_ACL, type Acl } from "./wire/requests.ts";

export interface SessionOptions {
  /** `host:port,host:port/chroot` */
  readonly connect: string;
  /** The session timeout to ask for; the server may grant another one. */
  readonly timeoutMs: number;
  /** How long to look for a server that answers; default: the session timeout. */
  readonly connectWithinMs?: number;
  readonly clock?: Clock;
  readonly hooks?: SessionHooks;
  /** Shown to each server before anything else, again after each reconnect. */
  readonly auth?: { readonly scheme: string; readonly secret: string };
  /** Who may do what with the nodes that this session creates; default: everyone everything. */
  readonly acl?: readonly Acl[];
  /** The way to a server; TLS is set up here. */
  readonly openSocket?: (server: Server) => Socket;
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
  readonly #credentials: readonly Buffer[];
  readonly #resolve: (opened: Opened) => void;
  readonly #deadline: NodeJS.Timeout;
  readonly #giveUp = (): void => this.#fail();
  #lastProblem = "no answer";
  #session: LiveSession | null = null;

  constructor(options: SessionOptions, resolve: (opened: Opened) => void) {
    this.#options = options;
    this.#resolve = resolve;
    this.#target = parseConnect(options.connect);
    const { auth, timeoutMs, clock = systemClock, openSocket = connectTcp } = options;
    this.#credentials = auth === undefined ? [] : [encodeAuth(auth.scheme, Buffer.from(auth.secret))];
    this.#link = openLink(
      { servers: this.#target.servers, timeoutMs, monotonicMs: clock.monotonicMs, openSocket },
      this,
    );
    this.#deadline = setTimeout(this.#giveUp, options.connectWithinMs ?? timeoutMs);
    if (options.signal?.aborted === true) this.#fail();
    options.signal?.addEventListener("abort", this.#giveUp);
  }

  greeting(lastZxid: bigint): readonly Buffer[] {
    return [...this.#credentials, ...(this.#session?.greeting(lastZxid) ?? [])];
  }

  connected(handshake: Handshake): void {
    if (this.#session !== null) {
      this.#session.connected(handshake);
      return;
    }
    this.#settle();
    const { clock = systemClock, hooks = {}, acl = OPEN_ACL } = this.#options;
    this.#session = new LiveSession({ link: this.#link, clock, hooks, root: this.#target.chroot, acl, handshake });
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
