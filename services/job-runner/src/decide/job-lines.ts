/** Lines that ask for new jobs, among those that a run printed. */

export interface AskedJob {
  readonly type: string;
  readonly payload: string;
}

export interface Lines {
  readonly jobs: readonly AskedJob[];
  /** Everything else is for the log. */
  readonly log: readonly string[];
}

const ASKS = "J: ";
/** As the serverless door takes types; there is no room for a tenant, which is always that of the job that asks. */
const TYPE = /^[^\s,|/]{1,255}$/;

export function linesOf(printed: readonly string[]): Lines {
  const jobs: AskedJob[] = [];
  const log: string[] = [];
  for (const line of printed) {
    const asked = line.startsWith(ASKS) ? askedJob(line.slice(ASKS.length)) : null;
    if (asked === null) log.push(line);
    else jobs.push(asked);
  }
  return { jobs, log };
}

/** `type|payload`; a payload may hold bars of its own. */
function askedJob(text: string): AskedJob | null {
  const bar = text.indexOf("|");
  const type = text.slice(0, Math.max(0, bar));
  return TYPE.test(type) ? { type, payload: text.slice(bar + 1) } : null;
}
