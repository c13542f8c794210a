import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

const ANSWER_LIMIT_MS = 2_000;
const POLL_MS = 50;

/** The server's answer to a command such as `srvr`; null when there is none. */
export const fourLetterWord = (port: number, word: string): Promise<string | null> =>
  new Promise((resolve) => {
    const chunks: Buffer[] = [];
    const socket = connect({ port, host: "127.0.0.1" });
    const finish = (answer: string | null): void => {
      socket.destroy();
      resolve(answer);
    };
    socket.setTimeout(ANSWER_LIMIT_MS, () => finish(null));
    socket.on("connect", () => socket.write(word));
    socket.on("data", (chunk: Buffer) => chunks.push(chunk));
    socket.on("error", () => finish(null));
    socket.on("close", () => finish(chunks.length === 0 ? null : Buffer.concat(chunks).toString("utf8")));
  });

/** True once the server serves; false if `signal` aborts first. */
export async function untilServing(port: number, signal: AbortSignal): Promise<boolean> {
  while (!signal.aborted) {
    // A server that is still loading answers too, but names no mode.
    const answer = await fourLetterWord(port, "srvr");
    if (answer?.includes("Mode: ") === true) return true;
    await sleep(POLL_MS);
  }
  return false;
}
