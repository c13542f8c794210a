import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Socket } from "node:net";

/** A TCP proxy that understands nothing, as a network does: for connections whose frames are encrypted. */
export interface ByteProxy {
  readonly address: string;
  readonly port: number;
  readonly connections: number;
  /** No byte passes in either direction, and nobody is told. */
  blackhole(on: boolean): void;
  /** After so many more bytes for the clients the connection ends. */
  cutAfter(bytes: number): void;
  /** Where new connections go. */
  leadTo(port: number): void;
  cut(): void;
  stop(): Promise<void>;
}

export async function startByteProxy(serverPort: number, host = "127.0.0.1"): Promise<ByteProxy> {
  const clients = new Set<Socket>();
  let connections = 0;
  let target = serverPort;
  let dark = false;
  let left = Infinity;

  const server = createServer((client) => {
    connections += 1;
    clients.add(client);
    const upstream = connect({ host: "127.0.0.1", port: target });
    client.on("data", (chunk) => dark || upstream.write(chunk));
    upstream.on("data", (chunk) => {
      if (dark) return;
      const passed = chunk.subarray(0, Math.min(chunk.length, left));
      left -= passed.length;
      if (left > 0) client.write(passed);
      else client.write(passed, () => client.destroy());
      if (left <= 0) left = Infinity;
    });
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
  }).listen(0, host);
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;

  return {
    address: `${host}:${port}`,
    port,
    get connections() {
      return connections;
    },
    blackhole: (on) => void (dark = on),
    cutAfter: (bytes) => void (left = bytes),
    leadTo: (next) => void (target = next),
    cut: () => clients.forEach((client) => client.destroy()),
    stop: async () => {
      dark = false;
      clients.forEach((client) => client.destroy());
      server.close();
      await once(server, "close");
    },
  };
}
