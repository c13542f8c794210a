/** The port on which peers ask us. */
import { once } from "node:events";
import { createServer, type Server, type Socket } from "node:net";
import { isThisMachine } from "@sluice/zookeeper";
import type { Address, Later, PeerPorts, RouterLog } from "../ports.ts";
import type { ServerFrame } from "./frames.ts";
import { type GiveBack, Memory } from "./memory.ts";
import { type Desk, Served } from "./served.ts";

export interface PeerServerPorts extends Pick<PeerPorts, "listen" | "secret"> {
  readonly apiId: string;
  readonly later: Later;
  readonly log: RouterLog;
  readonly desk: Desk;
  /** Jobs in an answer that its peer never got. */
  readonly giveBack: GiveBack;
  /** A peer has come: it wants to know what waits here. */
  readonly onPeer: (send: (frame: ServerFrame) => void) => void;
}

/** Jobs in an answer that could not be delivered by then go to others. */
const UNDELIVERED_MS = 5_000;
/** A peer that comes back by then gets the answers that it missed. A link asks again for six seconds at most. */
const MEMORY_MS = 60_000;

interface Known {
  readonly memory: Memory;
  readonly connections: Set<Served>;
  stopForgetting: () => void;
}

export class PeerServer {
  readonly #ports: PeerServerPorts;
  readonly #server: Server;
  readonly #connections = new Set<Served>();
  readonly #peers = new Map<string, Known>();
  #isClosed = false;

  constructor(ports: PeerServerPorts) {
    this.#ports = ports;
    this.#server = createServer((socket) => this.#accept(socket));
  }

  /** Where we are found. Throws when that cannot be, which is a mistake of the configuration. */
  async open(): Promise<Address> {
    const { listen, secret } = this.#ports;
    if (secret === null && !isThisMachine(listen.host))
      throw new Error(`without a secret peers are heard on the loopback only, not on ${listen.host}`);
    this.#server.listen(listen.port, listen.host);
    await once(this.#server, "listening");
    const bound = this.#server.address();
    return { host: listen.host, port: typeof bound === "object" && bound !== null ? bound.port : listen.port };
  }

  get hasPeers(): boolean {
    return this.#peers.size > 0;
  }

  /** To every peer that listens. */
  tell(frame: ServerFrame): void {
    for (const connection of this.#connections) connection.send(frame);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    for (const connection of this.#connections) connection.close();
    for (const { memory, stopForgetting } of this.#peers.values()) {
      stopForgetting();
      memory.close();
    }
    this.#peers.clear();
    this.#server.close();
    if (this.#server.listening) await once(this.#server, "close");
  }

  #accept(socket: Socket): void {
    const { apiId, secret, desk, log, onPeer } = this.#ports;
    const served = new Served(socket, {
      apiId,
      secret,
      desk,
      onWelcome: ({ instance }) => {
        const isKnown = this.#peers.has(instance);
        const { memory } = this.#know(instance, served);
        // Its welcome must be written before.
        queueMicrotask(() => onPeer((frame) => served.send(frame)));
        return { memory, isKnown };
      },
      onRefused: (why) => log.warn({ from: socket.remoteAddress, why }, "a peer was refused"),
      onClose: () => this.#lose(served),
    });
    this.#connections.add(served);
  }

  #know(instance: string, served: Served): Known {
    let known = this.#peers.get(instance);
    if (known === undefined) {
      known = { memory: new Memory(this.#ports.giveBack), connections: new Set(), stopForgetting: () => undefined };
      this.#peers.set(instance, known);
    }
    known.stopForgetting();
    known.connections.add(served);
    return known;
  }

  #lose(served: Served): void {
    this.#connections.delete(served);
    const { instance } = served;
    const known = instance === null ? undefined : this.#peers.get(instance);
    if (instance === null || known === undefined) return;
    known.connections.delete(served);
    if (known.connections.size > 0 || this.#isClosed) return;
    known.memory.dropWaiters();
    const { later } = this.#ports;
    known.stopForgetting = later(UNDELIVERED_MS, () => {
      known.memory.giveJobsBack();
      known.stopForgetting = later(MEMORY_MS - UNDELIVERED_MS, () => {
        this.#peers.delete(instance);
        known.memory.close();
      });
    });
  }
}
