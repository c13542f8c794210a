/** A line between two peers that can be cut, closed, or made to swallow everything. */
import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import type { AddressInfo } from "node:net";

export interface TcpProxy {
  readonly port: number;
  /** Where it leads; before that nobody is let in. */
  lead(port: number): void;
  /** Ends all connections; new ones are welcome. */
  cut(): void;
  /** Nobody gets in. */
  refuse(): void;
  /** Answers are lost from now on, the connections stay. */
  swallow(isOn: boolean): void;
  close(): void;
}

export async function startTcpProxy(): Promise<TcpProxy> {
  const sockets = new Set<Socket>();
  let target = 0;
  let isSwallowing = false;
  const server = createServer((near) => {
    const far = connect({ host: "127.0.0.1", port: target });
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket.on("error", () => socket.destroy());
      socket.once("close", () => {
        sockets.delete(socket);
        near.destroy();
        far.destroy();
      });
    }
    near.on("data", (chunk: Buffer) => far.write(chunk));
    far.on("data", (chunk: Buffer) => isSwallowing || near.write(chunk));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const cut = (): void => sockets.forEach((socket) => socket.destroy());
  const refuse = (): void => {
    server.close();
    cut();
  };
  return {
    port: (server.address() as AddressInfo).port,
    lead: (port) => void (target = port),
    cut,
    refuse,
    swallow: (isOn) => void (isSwallowing = isOn),
    close: refuse,
  };
}
