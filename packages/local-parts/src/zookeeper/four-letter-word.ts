import { readFileSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { connect as connectTls } from "node:tls";
import type { ServerTls } from "./types.ts";

/** A port of this machine, and how to go in. */
export interface Door {
  readonly port: number;
  readonly tls: ServerTls | null;
}

const ANSWER_LIMIT_MS = 2_000;
const POLL_MS = 50;

/** The server's answer to a command such as `srvr`; null when there is none. */
export const fourLetterWord = (door: Door, word: string): Promise<string | null> =>
  new Promise((resolve) => {
    const chunks: Buffer[] = [];
    const socket = knock(door);
    const finish = (answer: string | null): void => {
      socket.destroy();
      resolve(answer);
    };
    socket.setTimeout(ANSWER_LIMIT_MS, () => finish(null));
    socket.write(word);
    socket.on("data", (chunk: Buffer) => chunks.push(chunk));
    socket.on("error", () => finish(null));
    socket.on("close", () => finish(chunks.length === 0 ? null : Buffer.concat(chunks).toString("utf8")));
  });

const HOST = "127.0.0.1";

function knock({ port, tls }: Door): Socket {
  if (tls === null) return connect({ port, host: HOST });
  const { caFile, probe } = tls;
  return connectTls({
    port,
    host: HOST,
    ca: readFileSync(caFile),
    cert: readFileSync(probe.certFile),
    key: readFileSync(probe.keyFile),
    // Whatever the server is called: it is our own, on our own machine.
    checkServerIdentity: () => undefined,
  });
}

/** True once the server serves; false if `signal` aborts first. */
export async function untilServing(door: Door, signal: AbortSignal): Promise<boolean> {
  while (!signal.aborted) {
    // A server that is still loading answers too, but names no mode.
    const answer = await fourLetterWord(door, "srvr");
    if (answer?.includes("Mode: ") === true) return true;
    await sleep(POLL_MS);
  }
  return false;
}
