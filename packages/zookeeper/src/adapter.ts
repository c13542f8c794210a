/**
 * The one file that knows node-zookeeper-client. We use its server rotation, its queue, its state machine and its
 * reconnecting, and put our own code in place of the parts that fail: the README lists each defect with its guard.
 * The parts relied on are internals, so the version is pinned.
 */
import type { EventEmitter } from "node:events";
import type { Socket } from "node:net";
import { TLSSocket } from "node:tls";
import nzc from "node-zookeeper-client";
import { showServers, shuffled, type Server } from "./paths.ts";
import type { Link, LinkCall, LinkListener, LinkOptions, LinkReply } from "./link.ts";
import { connectionProblem } from "./tls-problems.ts";
import { ERR, XID } from "./wire/codes.ts";
import { FrameAssembler } from "./wire/frames.ts";
import { longBuffer, Malformed } from "./wire/jute.ts";
import { decodeConnectResponse, decodeReply, decodeWatchEvent, type ReplyHeader } from "./wire/replies.ts";
import { encodePing, numberFrame, type EncodedRequest } from "./wire/requests.ts";

interface NzcRequest {
  readonly header: { xid: number; readonly type: number };
  readonly payload: null;
  toBuffer(): Buffer;
}

interface OurRequest extends NzcRequest {
  /** null until its bytes were handed to a socket. */
  sentAtMs: number | null;
}

interface NzcPacket {
  readonly request: OurRequest;
  readonly callback: (error: unknown, reply?: ReplyHeader) => void;
}

interface NzcConnectionManager extends EventEmitter {
  state: number;
  xid: number;
  zxid: Buffer;
  sessionId: Buffer;
  sessionPassword: Buffer;
  servers: readonly Server[];
  serverAttempts: number;
  socket: Socket | undefined;
  pendingQueue: NzcPacket[];
  readonly packetQueue: { queue: NzcPacket[] };
  connect(): void;
  findNextServer(callback: (server: Server) => void): void;
  setState(state: number): void;
  updateTimeout(timeoutMs: number): void;
  queue(request: OurRequest, callback: NzcPacket["callback"]): void;
  onPacketQueueReadable(): void;
  onSocketConnected(): void;
  onSocketDrain(): void;
  onSocketClosed(): void;
}

interface NzcModule {
  createClient(
    connect: string,
    options: { sessionTimeout: number; spinDelay: number; retries: number },
  ): { readonly connectionManager: NzcConnectionManager; connect(): void };
}

const STATE = { connecting: 1, connected: 2, closing: -1 } as const;

/** Numbers of requests start again here: the client itself would count past 2^31 and throw. */
const LAST_XID = 2 ** 30;
const PING = encodePing();

interface Connection {
  readonly socket: Socket;
  readonly server: Server;
  readonly frames: FrameAssembler;
  readonly deadline: NodeJS.Timeout;
  /** When the pings were sent that have no answer yet. */
  readonly pings: number[];
  askedAtMs: number;
  why: string | null;
}

export function openLink(options: LinkOptions, listener: LinkListener): Link {
  return new NzcLink(options, listener);
}

class NzcLink implements Link {
  readonly #options: LinkOptions;
  readonly #listener: LinkListener;
  readonly #manager: NzcConnectionManager;
  #connection: Connection | null = null;
  #over = false;

  constructor(options: LinkOptions, listener: LinkListener) {
    this.#options = options;
    this.#listener = listener;
    const { timeoutMs, servers } = options;
    const spinDelay = Math.min(1000, Math.ceil(timeoutMs / 10));
    // retries: 0, for the client's own way to retry is to send a write again without asking whether it was applied.
    const client = (nzc as NzcModule).createClient(showServers(servers), {
      sessionTimeout: timeoutMs,
      spinDelay,
      retries: 0,
    });
    this.#manager = client.connectionManager;
    this.#manager.servers = shuffled(servers);
    this.#manager.xid = 1;
    this.#manager.connect = () => this.#connect();
    client.connect();
  }

  send(request: EncodedRequest, onReply: (reply: LinkReply) => void): LinkCall {
    const wrapped = this.#wrap(request);
    if (!this.#over) this.#manager.queue(wrapped, (_error, reply) => onReply(reply ?? "cut"));
    return {
      get sent() {
        return wrapped.sentAtMs !== null;
      },
      withdraw: () => {
        const packets = this.#manager.packetQueue;
        packets.queue = packets.queue.filter((packet) => packet.request !== wrapped);
      },
    };
  }

  /** Goes around the queue: a ping that waits behind others would measure them. */
  ping(): void {
    if (this.#connection === null || this.#manager.state !== STATE.connected) return;
    this.#connection.pings.push(this.#options.monotonicMs());
    this.#connection.socket.write(PING);
  }

  drop(why: string): void {
    const connection = this.#connection;
    if (connection === null) return;
    connection.why = why;
    reset(connection.socket);
    this.#onClosed(connection);
  }

  end(): void {
    if (this.#over) return;
    this.#over = true;
    this.#manager.packetQueue.queue = [];
    // "Closing" is the client's word for: do not connect again when the socket closes.
    this.#manager.state = STATE.closing;
    this.drop("ended");
  }

  #wrap(request: EncodedRequest): OurRequest {
    const manager = this.#manager;
    const { monotonicMs, lastXid = LAST_XID } = this.#options;
    return {
      header: { xid: 0, type: request.opcode },
      payload: null,
      sentAtMs: null,
      toBuffer() {
        this.sentAtMs = monotonicMs();
        if (manager.xid > lastXid) manager.xid = 1;
        return numberFrame(request.frame, this.header.xid);
      },
    };
  }

  #connect(): void {
    this.#manager.setState(STATE.connecting);
    this.#manager.findNextServer((server) => {
      if (!this.#over) this.#open(server);
    });
  }

  #open(server: Server): void {
    const socket = this.#options.openSocket(server);
    const connection: Connection = {
      socket,
      server,
      frames: new FrameAssembler(),
      deadline: setTimeout(() => this.drop("no answer to the connect request"), this.#connectDeadlineMs()),
      pings: [],
      askedAtMs: 0,
      why: null,
    };
    this.#connection = connection;
    this.#manager.socket = socket;
    socket.setNoDelay(true);
    // Before the server has proved who it is nothing is said to it.
    socket.on(socket instanceof TLSSocket ? "secureConnect" : "connect", () => this.#onConnect(connection));
    socket.on("data", (chunk) => this.#onData(connection, chunk));
    socket.on("drain", () => this.#manager.onSocketDrain());
    socket.on("error", (error) => (connection.why ??= connectionProblem(error)));
    socket.on("close", () => this.#onClosed(connection));
  }

  /** Covers TCP and ZooKeeper's own answer; short enough to try another server before the session is given up. */
  #connectDeadlineMs(): number {
    const third = this.#options.timeoutMs / 3;
    return Math.max(third / this.#options.servers.length, Math.min(third, 1000));
  }

  #onConnect(connection: Connection): void {
    if (this.#connection !== connection) return;
    connection.askedAtMs = this.#options.monotonicMs();
    this.#manager.onSocketConnected();
  }

  #onClosed(connection: Connection): void {
    if (this.#connection !== connection) return;
    this.#connection = null;
    clearTimeout(connection.deadline);
    if (!this.#over) this.#listener.disconnected(connection.why ?? "connection closed by the server");
    this.#manager.onSocketClosed();
  }

  #onData(connection: Connection, chunk: Buffer): void {
    try {
      for (const frame of connection.frames.push(chunk)) {
        if (this.#connection !== connection) return;
        this.#onFrame(connection, frame);
      }
    } catch (error) {
      // Only decoding throws here: callers' code runs in microtasks of its own.
      if (!(error instanceof Malformed)) throw error;
      if (this.#connection === connection) this.drop(`malformed: ${error.message}`);
    }
  }

  #onFrame(connection: Connection, frame: Buffer): void {
    if (this.#manager.state === STATE.connecting) this.#onHandshake(connection, frame);
    else this.#onReply(connection, decodeReply(frame));
  }

  #onHandshake(connection: Connection, frame: Buffer): void {
    const { timeoutMs, sessionId, password } = decodeConnectResponse(frame);
    if (timeoutMs <= 0) {
      this.#refuse("session expired");
      return;
    }
    clearTimeout(connection.deadline);
    const manager = this.#manager;
    manager.sessionId = longBuffer(sessionId);
    manager.sessionPassword = password;
    manager.updateTimeout(timeoutMs);
    for (const bytes of this.#listener.greeting(manager.zxid.readBigInt64BE())) connection.socket.write(bytes);
    manager.setState(STATE.connected);
    this.#listener.connected({ sessionId, timeoutMs, askedAtMs: connection.askedAtMs });
    manager.onPacketQueueReadable();
  }

  #onReply(connection: Connection, reply: ReplyHeader): void {
    switch (reply.xid) {
      case XID.notification:
        this.#onNotification(reply);
        return;
      case XID.ping:
        this.#heard(connection.pings.shift());
        return;
      case XID.auth:
        if (reply.err !== ERR.ok) this.#refuse("authentication refused");
        return;
      case XID.setWatches:
        if (reply.err !== ERR.ok) this.drop(`watches refused: ${reply.err}`);
        return;
      default:
        this.#onAnswer(reply);
    }
  }

  #onNotification(reply: ReplyHeader): void {
    const event = decodeWatchEvent(reply.body);
    if (event !== null) this.#listener.notified(event);
  }

  #onAnswer(reply: ReplyHeader): void {
    const packet = this.#manager.pendingQueue[0];
    if (packet?.request.header.xid !== reply.xid) {
      this.drop(`answer ${reply.xid} out of order`);
      return;
    }
    this.#manager.pendingQueue.shift();
    if (reply.zxid > 0n) this.#manager.zxid = longBuffer(reply.zxid);
    this.#heard(packet.request.sentAtMs);
    packet.callback(null, reply);
  }

  #heard(sentAtMs: number | null | undefined): void {
    // Only an answer proves a server of use: one that drops us after each handshake must not be tried without a pause.
    this.#manager.serverAttempts = 0;
    if (typeof sentAtMs === "number") this.#listener.heard(sentAtMs);
  }

  #refuse(why: string): void {
    this.end();
    this.#listener.refused(why);
  }
}

/** Bytes that the kernel has not sent yet are thrown away with the connection: nothing of ours arrives late. */
function reset(socket: Socket): void {
  if (socket.connecting) socket.destroy();
  else socket.resetAndDestroy();
}
