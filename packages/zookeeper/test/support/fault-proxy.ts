import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Socket } from "node:net";

/** What becomes of a frame: it goes on, it vanishes, other bytes take its place, or the connection ends after them. */
export type Fate = "pass" | "swallow" | { readonly instead: Buffer } | { readonly cutAfter: Buffer };
export type Inspect = (frame: Buffer) => Fate;

/** A TCP proxy that understands ZooKeeper's frames (each with its four bytes of length), for faults at an exact place. */
export interface FaultProxy {
  readonly address: string;
  /** Connections accepted so far. */
  readonly connections: number;
  /** Every frame from the clients, the connect request included. */
  readonly requests: readonly Buffer[];
  onRequest: Inspect;
  onReply: Inspect;
  /** Bytes to all clients, as if from the server. */
  inject(bytes: Buffer): void;
  /** No byte passes in either direction, and nobody is told. */
  blackhole(on: boolean): void;
  /** Ends all connections. */
  cut(): void;
  /** Refuses new connections while false. */
  accept(on: boolean): void;
  stop(): Promise<void>;
}

export const opcodeOf = (frame: Buffer): number => frame.readInt32BE(8);
export const xidOf = (frame: Buffer): number => frame.readInt32BE(4);
export const pass: Inspect = () => "pass";

export async function startFaultProxy(serverPort: number): Promise<FaultProxy> {
  const clients = new Set<Socket>();
  const requests: Buffer[] = [];
  let connections = 0;
  let dark = false;
  let accepting = true;

  const relay = (from: Socket, to: Socket, inspect: Inspect): void => {
    let pending = Buffer.alloc(0);
    from.on("data", (chunk) => {
      if (dark) return;
      pending = Buffer.concat([pending, chunk]);
      while (pending.length >= 4 && pending.length >= 4 + pending.readInt32BE(0)) {
        const frame = pending.subarray(0, 4 + pending.readInt32BE(0));
        pending = pending.subarray(frame.length);
        deliver(inspect(frame), frame, from, to);
      }
    });
  };

  const server = createServer((client) => {
    connections += 1;
    if (!accepting) {
      client.destroy();
      return;
    }
    const upstream = connect({ host: "127.0.0.1", port: serverPort });
    clients.add(client);
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      socket.on("error", () => socket.destroy());
      socket.on("close", () => {
        clients.delete(client);
        if (!dark) other.destroy();
      });
    }
    relay(client, upstream, (frame) => {
      requests.push(frame);
      return proxy.onRequest(frame);
    });
    relay(upstream, client, (frame) => proxy.onReply(frame));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");

  const proxy: FaultProxy = {
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    get connections() {
      return connections;
    },
    requests,
    onRequest: pass,
    onReply: pass,
    inject: (bytes) => {
      for (const client of clients) client.write(bytes);
    },
    blackhole: (on) => {
      dark = on;
    },
    cut: () => {
      for (const client of clients) client.destroy();
    },
    accept: (on) => {
      accepting = on;
    },
    stop: async () => {
      dark = false;
      for (const client of clients) client.destroy();
      server.close();
      await once(server, "close");
    },
  };
  return proxy;
}

function deliver(fate: Fate, frame: Buffer, from: Socket, to: Socket): void {
  if (fate === "pass") to.write(frame);
  else if (fate === "swallow") return;
  else if ("instead" in fate) to.write(fate.instead);
  else to.write(fate.cutAfter, () => from.destroy());
}
