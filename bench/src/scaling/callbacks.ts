/** A depositor's system that takes its time for each callback, and remembers what it was told. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

export interface Callbacks {
  readonly url: string;
  /** The Idempotency-Key of each that came. */
  readonly keys: readonly string[];
  close(): void;
}

export async function receiveCallbacks(delayMs: number): Promise<Callbacks> {
  const keys: string[] = [];
  const server = createServer((request, response) => {
    keys.push(String(request.headers["idempotency-key"]));
    request.resume();
    request.on("end", () => void sleep(delayMs).then(() => response.writeHead(200).end()));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    keys,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}
