import { randomInt } from "node:crypto";
import { createServer } from "node:net";

/**
 * Below the range from which kernels take the local ports of outgoing connections: a port from `listen(0)` may be taken
 * by any client between our look and the server's bind, or while a server is down for a restart.
 */
const FIRST = 21_000;
const LAST = 31_999;
const TRIES = 100;

export const isPortFree = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(false));
    server.listen({ port, host: "127.0.0.1", exclusive: true }, () => server.close(() => resolve(true)));
  });

/** A loopback port on which nobody listens just now. */
export async function freePort(): Promise<number> {
  for (let tries = 0; tries < TRIES; tries++) {
    const port = randomInt(FIRST, LAST + 1);
    if (await isPortFree(port)) return port;
  }
  throw new Error(`no free loopback port found between ${FIRST} and ${LAST} in ${TRIES} tries`);
}
