/** Tells the tree when a job that keeps the fleet's house was last done: whoever relies on it looks there. */
import { FLEET_TYPES } from "@sluice/fleet-jobs";
import { type Chore, choreDone, expectChore, RUNNERS_CHORES } from "@sluice/queue-core";
import type { Log } from "@sluice/stage-runtime";
import type { Session } from "@sluice/zookeeper";

const CHORE_OF: Readonly<Record<string, Chore>> = {
  [FLEET_TYPES.cleanUp]: "ordered-clean-up",
  [FLEET_TYPES.purge]: "purge",
  [FLEET_TYPES.snapshot]: "snapshot",
  [FLEET_TYPES.fsckReport]: "fsck-report",
};

export type CurrentSession = () => Session | null;

/** A run of the type succeeded. Without a session the next run tells. */
export async function tellDone(session: CurrentSession, type: string, log: Pick<Log, "warn">): Promise<void> {
  const chore = CHORE_OF[type];
  const now = session();
  if (chore === undefined) return;
  if (now === null || !(await choreDone(now, chore))) log.warn({ chore }, "it could not be written that it was done");
}

/** From the first start of a runner on: what never succeeds is missed, too. */
export async function expectChores(
  session: CurrentSession,
  pause: (ms: number) => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  for (const chore of RUNNERS_CHORES) {
    while (!signal.aborted) {
      const now = session();
      if (now !== null && (await expectChore(now, chore))) break;
      await pause(LOOK_MS);
    }
  }
}

const LOOK_MS = 1_000;
