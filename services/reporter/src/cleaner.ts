/**
 * Who looks for batches whose retention is over: a job of the job queue where somebody runs such and does it, this
 * reporter's timer otherwise. A runner whose token has expired is registered and alive, and orders nothing.
 */
import { isSystemServed } from "@sluice/job-workers";
import { readChores } from "@sluice/queue-core";
import type { Log } from "@sluice/stage-runtime";
import type { Session } from "@sluice/zookeeper";

export const CLEANERS = ["reporter", "job-runner"] as const;
export type OnCleaner = (who: (typeof CLEANERS)[number]) => void;

export interface Cleaner {
  isOurs(session: Session, log: Pick<Log, "info" | "warn">): Promise<boolean>;
}

/** Longer than the time between two runs of any schedule that one would give it. */
const TAKEN_BACK_AFTER_MS = 25 * 3_600_000;

export function makeCleaner(onCleaner: OnCleaner = () => undefined): Cleaner {
  let last: string | null = null;
  return {
    async isOurs(session, log) {
      const { who, why } = await cleanerNow(session);
      onCleaner(who);
      if (`${who} ${why}` !== last) {
        const say = why === "registered-only" ? log.warn.bind(log) : log.info.bind(log);
        say({ who, why }, "batches whose retention is over are looked for by");
      }
      last = `${who} ${why}`;
      return who === "reporter";
    },
  };
}

interface CleanerNow {
  readonly who: (typeof CLEANERS)[number];
  readonly why: "no-runner" | "registered-only" | "runner-does-it";
}

/** Without an answer we look ourselves: two who clean up do no harm, none would. */
async function cleanerNow(session: Session): Promise<CleanerNow> {
  if ((await isSystemServed(session)) !== true) return { who: "reporter", why: "no-runner" };
  const done = (await readChores(session))?.get("ordered-clean-up");
  const isDone =
    done !== undefined && done.expected !== true && session.serverNowMs() - done.done < TAKEN_BACK_AFTER_MS;
  return isDone ? { who: "job-runner", why: "runner-does-it" } : { who: "reporter", why: "registered-only" };
}
