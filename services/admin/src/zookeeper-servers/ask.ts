/** ZooKeeper's four-letter words: a server is asked one thing on a connection of its own, answers, and hangs up. */
import type { Server } from "@sluice/zookeeper";
import type { Socket } from "node:net";

/** The same way to a server that sessions take: what is TLS for them is TLS for us. */
export type OpenSocket = (server: Server) => Socket;

/** The server's words; null when it does not answer. */
export type AskServer = (server: Server, word: "mntr" | "srvr") => Promise<string | null>;

/** Below a scrape's time limit even if one server is asked twice. */
const ANSWER_LIMIT_MS = 2_000;
/** Some 25 KB are usual; whoever sends much more is no ZooKeeper. */
const ANSWER_BYTES_MAX = 1_000_000;

export const askOver =
  (openSocket: OpenSocket, limitMs = ANSWER_LIMIT_MS): AskServer =>
  (server, word) =>
    new Promise((resolve) => {
      const chunks: Buffer[] = [];
      let bytes = 0;
      const socket = openSocket(server);
      const finish = (answer: string | null): void => {
        clearTimeout(deadline);
        socket.destroy();
        resolve(answer);
      };
      const deadline = setTimeout(() => finish(null), limitMs);
      socket.on("data", (chunk: Buffer) => {
        chunks.push(chunk);
        bytes += chunk.length;
        if (bytes > ANSWER_BYTES_MAX) finish(null);
      });
      socket.on("error", () => finish(null));
      socket.on("close", () => finish(bytes === 0 ? null : Buffer.concat(chunks).toString("utf8")));
      // Waits for the connection, and for the handshake where there is one.
      socket.write(word);
    });
