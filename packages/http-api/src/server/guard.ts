/** Puts the limits of connections and of slow clients around a server. */
import type { IncomingMessage, RequestListener, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";

import { refuseConnection, refuseStalled } from "../refuse-unread.ts";
import { Connections, type RefusedConnection } from "./connections.ts";
import { type Incoming, Pace } from "./pace.ts";
import type { HttpSettings } from "./settings.ts";

export type Guarded = RefusedConnection | "stalled";

export interface GuardOptions {
  readonly limits: HttpSettings;
  readonly isProxy: (address: string) => boolean;
  /** For log and metrics. */
  readonly onRefused: (why: Guarded) => void;
}

/** Looks at each body so often within a window. */
const LOOKS_PER_WINDOW = 4;
/** Sockets above the limit that are still being told so; beyond them a connection is dropped without a word. */
const TOLD_AT_ONCE = 100;

export class Guard {
  readonly #options: GuardOptions;
  readonly #connections: Connections;
  readonly #pace: Pace;
  readonly #refused = new WeakSet<Socket>();
  readonly #busy = new Map<Socket, number>();

  constructor(options: GuardOptions) {
    const { limits, isProxy } = options;
    this.#options = options;
    this.#connections = new Connections({
      max: limits.CONNECTIONS_MAX,
      perAddress: limits.CONNECTIONS_PER_ADDRESS,
      isProxy,
    });
    this.#pace = new Pace({ stallMs: limits.BODY_STALL_MS, minBytesPerSecond: limits.BODY_MIN_BYTES_PER_SECOND });
  }

  /** A request on a connection that was refused is never served: its client has been told already. */
  around(app: RequestListener): RequestListener {
    return (request, response) => {
      if (this.#refused.has(request.socket)) return;
      this.#follow(request, response);
      app(request, response);
    };
  }

  attach(server: Server): void {
    const { limits } = this.#options;
    server.maxConnections = limits.CONNECTIONS_MAX + TOLD_AT_ONCE;
    server.on("connection", (socket: Socket) => this.#admit(socket));
    // Of a socket that neither reads what we send nor has anything under way. Node asks only after a silence of so long.
    server.setTimeout(limits.BODY_STALL_MS, (socket: Socket) => {
      if (socket.writableLength > 0 || !this.#busy.has(socket)) socket.destroy();
    });
    const looks = setInterval(() => this.#pace.check(performance.now()), limits.BODY_STALL_MS / LOOKS_PER_WINDOW);
    looks.unref();
    server.on("close", () => clearInterval(looks));
  }

  #admit(socket: Socket): void {
    const admitted = this.#connections.admit(socket.remoteAddress ?? "");
    if (admitted.ok) {
      socket.once("close", admitted.release);
      return;
    }
    this.#refused.add(socket);
    this.#options.onRefused(admitted.reason);
    refuseConnection(admitted.problem, socket);
  }

  #follow(request: IncomingMessage, response: ServerResponse): void {
    const { socket } = request;
    this.#busy.set(socket, (this.#busy.get(socket) ?? 0) + 1);
    const incoming: Incoming = {
      bytesRead: () => socket.bytesRead,
      waitsForUs: () => request.readableLength > 0,
      isComplete: () => request.complete || request.destroyed,
      giveUp: () => {
        this.#options.onRefused("stalled");
        refuseStalled(response, socket);
      },
    };
    if (hasBody(request)) this.#pace.watch(incoming, performance.now());
    response.once("close", () => {
      this.#pace.forget(incoming);
      const left = (this.#busy.get(socket) ?? 1) - 1;
      if (left === 0) this.#busy.delete(socket);
      else this.#busy.set(socket, left);
    });
  }
}

const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0;
