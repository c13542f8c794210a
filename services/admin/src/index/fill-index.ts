/** Fills the index in the background: in small reads with pauses, so that the fleet's own work is not held up. */
import type { ExtraServer } from "@sluice/stage-runtime";
import type { Session } from "@sluice/zookeeper";
import type { JobIndex } from "./job-index.ts";

/** At most 4,000 jobs a second while there is much to learn. */
const BUSY_MS = 50;
const IDLE_MS = 2_000;

export function indexFiller(index: JobIndex, session: () => Session | null): ExtraServer {
  let timer: NodeJS.Timeout | null = null;
  let running: Promise<void> = Promise.resolve();
  let stopped = false;
  const turn = async (): Promise<void> => {
    const now = session();
    const learnt = now?.state === "connected" && (await index.fill(now));
    if (!stopped) timer = setTimeout(begin, learnt ? BUSY_MS : IDLE_MS).unref();
  };
  const begin = (): void => {
    running = turn();
  };
  return {
    name: "job index",
    start() {
      begin();
      return Promise.resolve();
    },
    async stop() {
      stopped = true;
      if (timer !== null) clearTimeout(timer);
      await running;
    },
  };
}
