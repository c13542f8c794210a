/** Who looks for batches whose retention is over: a job of the job queue where somebody runs such, this reporter's timer otherwise. */
import { isSystemServed } from "@sluice/job-workers";
import type { Log } from "@sluice/stage-runtime";
import type { Session } from "@sluice/zookeeper";

export const CLEANERS = ["reporter", "job-runner"] as const;
export type OnCleaner = (who: (typeof CLEANERS)[number]) => void;

export interface Cleaner {
  isOurs(session: Session, log: Pick<Log, "info">): Promise<boolean>;
}

export function makeCleaner(onCleaner: OnCleaner = () => undefined): Cleaner {
  let last: (typeof CLEANERS)[number] | null = null;
  return {
    async isOurs(session, log) {
      // Without an answer we look ourselves: two who clean up do no harm, none would.
      const who = (await isSystemServed(session)) === true ? "job-runner" : "reporter";
      onCleaner(who);
      if (who !== last) log.info({ who }, "batches whose retention is over are looked for by");
      last = who;
      return who === "reporter";
    },
  };
}
