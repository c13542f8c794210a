import { setMaxListeners } from "node:events";
import { PendingCalls, type CallOutcome } from "./calls.ts";
import type { OperationName, SessionHooks } from "./hooks.ts";
import { tooLarge } from "./limits.ts";
import type { Handshake, Link } from "./link.ts";
import { badPath, opProblem, pathProblem, rooted } from "./paths.ts";
import type {
  Answer,
  Clock,
  Fault,
  MultiAnswer,
  Node,
  Op,
  Read,
  ReadAnswer,
  Session,
  SessionState,
  Stat,
  Watch,
} from "./port.ts";
import { ServerClock } from "./server-clock.ts";
import { callDeadlineMs, stateOf, watchdogIntervalMs } from "./session-health.ts";
import { WatchTable } from "./watches.ts";
import { ERR, faultOf } from "./wire/codes.ts";
import { Malformed } from "./wire/jute.ts";
import {
  decodeChildren,
  decodeMulti,
  decodeMultiRead,
  decodeNode,
  decodeStat,
  type ReplyHeader,
  type WatchEvent,
} from "./wire/replies.ts";
import {
  encodeCloseSession,
  encodeExists,
  encodeGetChildren,
  encodeGetData,
  encodeMulti,
  encodeMultiRead,
  encodeSetWatches,
  type Acl,
  type EncodedRequest,
} from "./wire/requests.ts";

export interface SessionParts {
  readonly link: Link;
  readonly clock: Clock;
  readonly hooks: SessionHooks;
  /** The chroot; "" for none. */
  readonly root: string;
  readonly acl: readonly Acl[];
  readonly handshake: Handshake;
}

type Children = Answer<{ readonly names: readonly string[]; readonly stat: Stat }>;
const silentMulti = (fault: Fault): MultiAnswer => ({ ...fault, index: -1 });

export class LiveSession implements Session {
  readonly id: bigint;
  readonly timeoutMs: number;
  readonly #parts: SessionParts;
  readonly #calls: PendingCalls;
  readonly #watches = new WatchTable();
  readonly #serverClock: ServerClock;
  readonly #listeners = new Set<(state: SessionState) => void>();
  readonly #over = new AbortController();
  readonly #watchdog: NodeJS.Timeout;
  #state: SessionState = "connected";
  #linkUp = true;
  #heardAtMs: number;
  #closing: Promise<void> | null = null;
  #barrier: Promise<boolean> | null = null;
  #nextBarrier: Promise<boolean> | null = null;

  constructor(parts: SessionParts) {
    this.#parts = parts;
    this.id = parts.handshake.sessionId;
    this.timeoutMs = parts.handshake.timeoutMs;
    this.#calls = new PendingCalls(parts.link);
    this.#serverClock = new ServerClock(parts.clock);
    this.#heardAtMs = parts.handshake.askedAtMs;
    this.#watchdog = setInterval(() => this.#watch(), watchdogIntervalMs(this.timeoutMs));
    // Every piece of work in flight listens: hundreds are normal.
    setMaxListeners(0, this.#over.signal);
  }

  get state(): SessionState {
    this.#review();
    return this.#state;
  }

  get lost(): AbortSignal {
    return this.#over.signal;
  }

  onState(listener: (state: SessionState) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  untilConnected(): Promise<boolean> {
    const now = this.state;
    if (now !== "suspended") return Promise.resolve(now === "connected");
    return new Promise((resolve) => {
      const stop = this.onState((state) => {
        if (state === "suspended") return;
        stop();
        resolve(state === "connected");
      });
    });
  }

  serverNowMs(): number {
    return this.#serverClock.nowMs();
  }

  get(path: string, watch?: Watch): Promise<Answer<Node>> {
    const full = rooted(this.#parts.root, path);
    return this.#read("get", path, encodeGetData(full, watch !== undefined), (reply) => {
      if (reply.err !== ERR.ok) return this.#fault(reply, path);
      const value = decodeNode(reply.body);
      if (watch !== undefined) this.#watches.add("data", full, watch);
      return { ok: true, value };
    });
  }

  exists(path: string, watch?: Watch): Promise<Answer<Stat | null>> {
    const full = rooted(this.#parts.root, path);
    return this.#read<Answer<Stat | null>>("exists", path, encodeExists(full, watch !== undefined), (reply) => {
      if (reply.err !== ERR.ok && reply.err !== ERR.noNode) return this.#fault(reply, path);
      const value = reply.err === ERR.ok ? decodeStat(reply.body) : null;
      if (watch !== undefined) this.#watches.add(value === null ? "exists" : "data", full, watch);
      return { ok: true, value };
    });
  }

  children(path: string, watch?: Watch): Promise<Children> {
    const full = rooted(this.#parts.root, path);
    return this.#read<Children>("children", path, encodeGetChildren(full, watch !== undefined), (reply) => {
      if (reply.err !== ERR.ok) return this.#fault(reply, path);
      const value = decodeChildren(reply.body);
      if (watch !== undefined) this.#watches.add("children", full, watch);
      return { ok: true, value };
    });
  }

  readMany(reads: readonly Read[]): Promise<Answer<readonly ReadAnswer[]>> {
    if (reads.length === 0) return Promise.resolve({ ok: true, value: [] });
    const paths = reads.map((read) => ("get" in read ? read.get : read.children));
    for (const path of paths) {
      const problem = pathProblem(path);
      if (problem !== null) return Promise.resolve(badPath(path, problem));
    }
    const request = encodeMultiRead(reads, this.#parts.root);
    return this.#ask<Answer<readonly ReadAnswer[]>>("readMany", request, same, (reply) =>
      reply.err === ERR.ok
        ? { ok: true, value: decodeMultiRead(reply.body) }
        : this.#fault(reply, `${reads.length} reads`),
    );
  }

  multi(ops: readonly Op[]): Promise<MultiAnswer> {
    for (const [index, op] of ops.entries()) {
      const problem = opProblem(op);
      if (problem !== null) return Promise.resolve({ ...badPath(op.path, problem), index });
    }
    const askedMs = this.#now();
    const request = encodeMulti(ops, this.#parts.root, this.#parts.acl);
    return this.#ask<MultiAnswer>("multi", request, silentMulti, (reply) => {
      if (reply.err !== ERR.ok) return silentMulti(this.#fault(reply, `multi of ${ops.length}`));
      const answer = decodeMulti(reply.body, reply.zxid, ops);
      const stat = answer.ok ? answer.stats.find((each) => each !== null) : undefined;
      if (stat !== undefined) this.#serverClock.sample(stat.mtime, askedMs, this.#now());
      return answer;
    });
  }

  /** One at a time; who asks while one is under way waits for the next, since his writes may be younger than this one. */
  barrier(): Promise<boolean> {
    if (this.#barrier === null) {
      this.#barrier = this.#sendBarrier().finally(() => (this.#barrier = null));
      return this.#barrier;
    }
    this.#nextBarrier ??= this.#barrier.then(() => {
      this.#nextBarrier = null;
      return this.barrier();
    });
    return this.#nextBarrier;
  }

  close(): Promise<void> {
    this.#closing ??= this.#sendClose();
    return this.#closing;
  }

  // What follows is called by the link.

  greeting(lastZxid: bigint): readonly Buffer[] {
    return encodeSetWatches(lastZxid, this.#watches.paths());
  }

  connected(handshake: Handshake): void {
    this.#linkUp = true;
    this.heard(handshake.askedAtMs);
    this.#become("connected", "reconnected");
  }

  heard(sentAtMs: number): void {
    this.#heardAtMs = Math.max(this.#heardAtMs, sentAtMs);
  }

  notified(event: WatchEvent): void {
    this.#watches.fire(event);
  }

  disconnected(why: string): void {
    this.#linkUp = false;
    this.#become("suspended", why);
  }

  refused(why: string): void {
    this.#become("lost", why);
  }

  // The machine.

  #now(): number {
    return this.#parts.clock.monotonicMs();
  }

  #watch(): void {
    this.#review();
    if (this.#state === "lost") return;
    this.#parts.link.ping();
    this.#calls.expire(this.#now());
  }

  /** Also before each call, for a process that was stopped may run other code before its watchdog. */
  #review(): void {
    if (this.#state === "lost") return;
    const silenceMs = this.#now() - this.#heardAtMs;
    const next = stateOf({ timeoutMs: this.timeoutMs, silenceMs, linkUp: this.#linkUp });
    const why = `no answer for ${Math.round(silenceMs)} ms`;
    if (next === "lost") this.#become("lost", why);
    else if (next === "suspended" && this.#linkUp) this.#parts.link.drop(why);
  }

  #become(state: SessionState, why: string): void {
    if (this.#state === state || this.#state === "lost") return;
    this.#state = state;
    if (state === "lost") this.#finish(why);
    this.#parts.hooks.onState?.(state, why);
    for (const listener of [...this.#listeners]) listener(state);
  }

  #finish(why: string): void {
    clearInterval(this.#watchdog);
    this.#parts.link.end();
    this.#watches.clear();
    this.#calls.abandon("SESSION_LOST", why);
    this.#over.abort(new Error(`ZooKeeper session lost: ${why}`));
  }

  #read<T extends { readonly ok: true } | Fault>(
    operation: OperationName,
    path: string,
    request: EncodedRequest,
    read: (reply: ReplyHeader) => T | Fault,
  ): Promise<T | Fault> {
    const problem = pathProblem(path);
    if (problem !== null) return Promise.resolve(badPath(path, problem));
    return this.#ask<T | Fault>(operation, request, same, read);
  }

  #ask<T extends { readonly ok: true } | Fault>(
    operation: OperationName,
    request: EncodedRequest,
    onSilence: (fault: Fault) => T,
    onReply: (reply: ReplyHeader) => T,
  ): Promise<T> {
    this.#review();
    const fault = this.#overFault() ?? tooLarge(request.frame.length);
    if (fault !== null) return Promise.resolve(onSilence(fault));
    return this.#send(operation, request, onSilence, onReply);
  }

  #overFault(): Fault | null {
    if (this.#state !== "lost" && this.#closing === null) return null;
    return { ok: false, code: "SESSION_LOST", detail: "the session is over" };
  }

  #send<T extends { readonly ok: true } | Fault>(
    operation: OperationName,
    request: EncodedRequest,
    onSilence: (fault: Fault) => T,
    onReply: (reply: ReplyHeader) => T,
  ): Promise<T> {
    const startedMs = this.#now();
    return new Promise((resolve) => {
      this.#calls.start(request, startedMs + callDeadlineMs(this.timeoutMs), (outcome) => {
        const answer = this.#answer(outcome, onSilence, onReply);
        this.#parts.hooks.onOperation?.(operation, this.#now() - startedMs, answer.ok ? "OK" : answer.code);
        resolve(answer);
      });
    });
  }

  #answer<T>(outcome: CallOutcome, onSilence: (fault: Fault) => T, onReply: (reply: ReplyHeader) => T): T {
    if ("silence" in outcome) return onSilence({ ok: false, code: outcome.silence, detail: outcome.detail });
    try {
      return onReply(outcome.reply);
    } catch (error) {
      if (!(error instanceof Malformed)) throw error;
      this.#parts.link.drop(`malformed answer: ${error.message}`);
      return onSilence({ ok: false, code: "UNKNOWN", detail: "malformed answer" });
    }
  }

  #fault(reply: ReplyHeader, subject: string): Fault {
    if (reply.err !== ERR.sessionExpired) return faultOf(reply.err, subject);
    this.#become("lost", "session expired");
    return { ok: false, code: "SESSION_LOST", detail: subject };
  }

  async #sendBarrier(): Promise<boolean> {
    const request = encodeMulti([{ op: "check", path: "/" }], this.#parts.root, this.#parts.acl);
    const answer = await this.#ask<Answer<null>>("barrier", request, same, (reply) =>
      reply.err === ERR.sessionExpired ? this.#fault(reply, "barrier") : { ok: true, value: null },
    );
    return answer.ok;
  }

  async #sendClose(): Promise<void> {
    this.#review();
    if (this.#state === "lost") return;
    await this.#send<Answer<null>>("close", encodeCloseSession(), same, () => ({ ok: true, value: null }));
    this.#become("lost", "closed");
  }
}

const same = <T>(fault: T): T => fault;
