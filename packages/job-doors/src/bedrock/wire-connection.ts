/**
 * One socket: requests are answered one after the other, in order. Who sends faster than we answer, or does not read what we
 * say, is not read from; who says nothing and holds nothing is sent away.
 */
import type { Socket } from "node:net";
import { once } from "node:events";
import type { Status } from "@sluice/job-queue";
import { Conversation, type Peer, type WirePorts } from "./conversation.ts";
import type { Guest, Lobby } from "./lobby.ts";
import { printWireReply, type WireReply } from "./reply-printer.ts";
import { RequestParser, type WireFault, type WireRequest } from "./request-parser.ts";

export interface ConnectionLimits {
  /** Without a whole request; people type slowly. */
  readonly idleMs: number;
  /** From another machine, until a request is accepted. */
  readonly strangerMs: number;
  /** Requests that wait for their turn, and their bytes. */
  readonly waitingRequests: number;
  readonly waitingBytes: number;
}

export const CONNECTION_LIMITS: ConnectionLimits = {
  idleMs: 600_000,
  strangerMs: 30_000,
  waitingRequests: 100,
  waitingBytes: 1024 * 1024,
};

const LINGER_MS = 2000;

const NO_REQUEST: Status = { code: 408, text: "No request was accepted here in time" };

export class WireConnection implements Guest {
  readonly conversation: Conversation;
  readonly #socket: Socket;
  readonly #ports: WirePorts;
  readonly #limits: ConnectionLimits;
  readonly #parser = new RequestParser();
  readonly #waiting: (WireRequest | WireFault)[] = [];
  readonly #ended = new AbortController();
  readonly #closed = new AbortController();
  #waitingBytes = 0;
  #isBusy = false;
  #isLeaving = false;
  readonly #lobby: Lobby;
  #stopIdle: () => void = () => undefined;
  #stopStranger: () => void = () => undefined;
  #stopLingering: () => void = () => undefined;

  constructor(socket: Socket, peer: Peer, ports: WirePorts, limits: ConnectionLimits, lobby: Lobby) {
    this.#socket = socket;
    this.#lobby = lobby;
    this.#ports = ports;
    this.#limits = limits;
    this.conversation = new Conversation(ports, peer);
    socket.on("data", (chunk: Buffer) => this.#onData(chunk));
    socket.once("end", () => this.#onEnd());
    // What an error means is said by the close that follows.
    socket.on("error", () => undefined);
    socket.once("close", () => this.#onClose());
    this.#watchIdleness();
    // People on this machine type slowly.
    if (!peer.isNear)
      this.#stopStranger = ports.later(limits.strangerMs, () => {
        if (lobby.isStranger(this)) this.turnAway(NO_REQUEST);
      });
    lobby.enter(this);
  }

  turnAway(status: Status): void {
    if (this.closed.aborted || this.#socket.writableEnded) return;
    this.#isLeaving = true;
    this.#waiting.length = 0;
    this.#ended.abort();
    this.#socket.write(printWireReply({ status, content: "" }));
    this.#hangUp();
  }

  /** Aborts when the socket is closed. */
  get closed(): AbortSignal {
    return this.#closed.signal;
  }

  /** The request that is being answered is the last one; whoever waits for a job waits no longer. */
  leave(): void {
    this.#isLeaving = true;
    this.#ended.abort();
    if (!this.#isBusy) this.#hangUp();
  }

  #onData(chunk: Buffer): void {
    if (this.#isLeaving) return;
    const wasPartial = this.#parser.isPartial;
    for (const item of this.#parser.push(chunk)) {
      this.#waiting.push(item);
      this.#waitingBytes += item.bytes;
    }
    this.#lobby.hold(this, this.#parser.heldBytes + this.#waitingBytes);
    if (this.#waiting.length > 0 || !wasPartial) this.#watchIdleness();
    if (this.#isFull()) this.#socket.pause();
    this.#work().catch((error: unknown) => {
      this.#ports.onError(error);
      this.#socket.destroy();
    });
  }

  #isFull(): boolean {
    const { waitingRequests, waitingBytes } = this.#limits;
    return this.#waiting.length >= waitingRequests || this.#waitingBytes >= waitingBytes;
  }

  async #work(): Promise<void> {
    if (this.#isBusy) return;
    this.#isBusy = true;
    for (let next = this.#next(); next !== undefined; next = this.#next()) {
      const reply = await this.#replyTo(next);
      if (this.closed.aborted || this.#socket.writableEnded) break;
      if (!this.#socket.write(printWireReply(reply))) await this.#drained();
      if (next.kind === "fault" && next.fatal) this.#isLeaving = true;
    }
    this.#isBusy = false;
    this.#watchIdleness();
    if (this.#isLeaving || this.#ended.signal.aborted) this.#hangUp();
  }

  #next(): WireRequest | WireFault | undefined {
    if (this.#isLeaving || this.closed.aborted) return undefined;
    const next = this.#waiting.shift();
    this.#waitingBytes -= next?.bytes ?? 0;
    if (this.#socket.isPaused() && !this.#isFull()) this.#socket.resume();
    return next;
  }

  async #replyTo(item: WireRequest | WireFault): Promise<WireReply> {
    if (item.kind === "fault") return { status: item.status, content: "" };
    try {
      const admitted = (tenant: string): Status | null => this.#admitted(tenant);
      return await this.conversation.answer(item, { ended: this.#ended.signal, closed: this.closed, admitted });
    } catch (error) {
      this.#ports.onError(error);
      return { status: { code: 500, text: "Internal error" }, content: "" };
    }
  }

  #admitted(tenant: string): Status | null {
    const refusal = this.closed.aborted ? null : this.#lobby.admit(this, tenant);
    if (refusal === null) this.#stopStranger();
    else this.#isLeaving = true;
    return refusal;
  }

  async #drained(): Promise<void> {
    // A socket that closes instead rejects: nobody is left to write to.
    await once(this.#socket, "drain", { signal: this.closed }).catch(() => undefined);
  }

  #onEnd(): void {
    this.#ended.abort();
    if (!this.#isBusy) this.#hangUp();
  }

  /** To cut at once would take the last answer away from a peer that is still sending. */
  #hangUp(): void {
    if (this.closed.aborted || this.#socket.writableEnded) return;
    this.#socket.end();
    this.#socket.resume();
    this.#stopLingering = this.#ports.later(LINGER_MS, () => this.#socket.destroy());
  }

  #onClose(): void {
    this.#lobby.leave(this);
    this.#stopStranger();
    this.#stopIdle();
    this.#stopLingering();
    this.#ended.abort();
    this.#closed.abort();
  }

  #watchIdleness(): void {
    this.#stopIdle();
    if (this.closed.aborted) return;
    this.#stopIdle = this.#ports.later(this.#limits.idleMs, () => {
      const isAtWork = this.#isBusy || (this.conversation.leases.size > 0 && !this.#parser.isPartial);
      if (isAtWork && this.#socket.writableLength === 0) this.#watchIdleness();
      else this.#socket.destroy();
    });
  }
}
