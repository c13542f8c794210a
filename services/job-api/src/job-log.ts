/** Jobs in the log: one line for what one request did, so that they can be counted from it. Never what is in them. */
import type { Hear, JobNews } from "@sluice/job-doors";
import type { Log } from "@sluice/stage-runtime";

/** More are told by the first, the last and their number. */
const MOST = 100;

const SAID = {
  came: "jobs came in",
  taken: "jobs were taken",
  ended: "a run ended",
  returned: "jobs were given back",
  removed: "a job was removed",
} as const satisfies Record<JobNews["what"], string>;

export function jobLog(log: Log): Hear {
  return ({ what, ids, names, runs, worker, ...news }) => {
    if (!log.isLevelEnabled("info")) return;
    const jobs = ids.length <= MOST ? { jobs: ids } : { first: ids[0], last: ids.at(-1) };
    // `worker` is this process, in every line of every service.
    const line = { what, ...news, ...(worker === undefined ? {} : { by: worker }), ...jobs, count: ids.length };
    log.info({ ...line, ...few("names", names), ...few("runs", runs) }, SAID[what]);
  };
}

const few = (key: string, texts: readonly string[] | undefined): Readonly<Record<string, readonly string[]>> =>
  texts === undefined || texts.length === 0 || texts.length > MOST ? {} : { [key]: texts };
