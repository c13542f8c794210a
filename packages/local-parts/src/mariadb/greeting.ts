import { createConnection } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

const START_LIMIT_MS = 60_000;
const LOOK_AGAIN_MS = 50;

/** Null once the server answers. */
export async function untilGreeted(port: number): Promise<Error | null> {
  const deadline = performance.now() + START_LIMIT_MS;
  while (!(await greets(port))) {
    if (performance.now() > deadline) return new Error(`MariaDB did not answer in ${START_LIMIT_MS} ms`);
    await sleep(LOOK_AGAIN_MS);
  }
  return null;
}

/** A server that is ready speaks first. */
const greets = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = createConnection({ port, host: "127.0.0.1" });
    const answer = (yes: boolean) => () => {
      socket.destroy();
      resolve(yes);
    };
    socket.once("data", answer(true)).once("error", answer(false)).once("close", answer(false));
  });
