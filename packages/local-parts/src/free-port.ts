import { randomInt } from "node:crypto";
import { mkdir, open, rm, stat } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";

/**
 * Below the range from which kernels take the local ports of outgoing connections: a port from `listen(0)` may be taken
 * by any client between our look and the server's bind, or while a server is down for a restart.
 */
const FIRST = 21_000;
const LAST = 31_999;
const TRIES = 1_000;
/** As long as a server may take to open its port, or be down for a restart. */
const RESERVED_MS = 600_000;
const RESERVATIONS = join(tmpdir(), `sluice-ports-${userInfo().uid}`);

export const isPortFree = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(false));
    server.listen({ port, host: "127.0.0.1", exclusive: true }, () => server.close(() => resolve(true)));
  });

/** A loopback port on which nobody listens, and which no process of this user was given lately. */
export async function freePort(): Promise<number> {
  await mkdir(RESERVATIONS, { recursive: true, mode: 0o700 });
  for (let tries = 0; tries < TRIES; tries++) {
    const port = randomInt(FIRST, LAST + 1);
    if ((await reserve(port)) && (await isPortFree(port))) return port;
  }
  throw new Error(`no free loopback port found between ${FIRST} and ${LAST} in ${TRIES} tries`);
}

/** A file for each port that was given: between our look and the server's bind nobody else may be given it, or look at it. */
async function reserve(port: number): Promise<boolean> {
  const file = join(RESERVATIONS, String(port));
  const made = await open(file, "wx").catch(() => null);
  await made?.close();
  if (made !== null) return true;
  const reservedAt = await stat(file).then(
    ({ mtimeMs }) => mtimeMs,
    () => Infinity,
  );
  // Free for who asks next: were it ours at once, two who find it outdated could both take it.
  if (Date.now() - reservedAt > RESERVED_MS) await rm(file, { force: true });
  return false;
}
