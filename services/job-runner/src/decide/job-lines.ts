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
export const isJobLine = (line: string): boolean => line.startsWith(ASKS);
/** As the serverless door takes types; there is no room for a tenant, which is always that of the job that asks. */
const TYPE = /^[^\s,|/]{1,255}$/;
const TYPE_BYTES = 255;
/** What the end of a run takes along, with room for what a job has besides its payload. */
const WITH_END = { jobs: 500, bytes: 100_000, each: 300 } as const;

export function goWithOneEnd(jobs: readonly AskedJob[]): boolean {
  const bytes = jobs.reduce((sum, { type, payload }) => sum + type.length + JSON.stringify(payload).length, 0);
  return jobs.length <= WITH_END.jobs && bytes + jobs.length * WITH_END.each <= WITH_END.bytes;
}

export function linesOf(printed: readonly string[]): Lines {
  const jobs: AskedJob[] = [];
  const log: string[] = [];
  for (const line of printed) {
    const asked = isJobLine(line) ? askedJob(line.slice(ASKS.length)) : null;
    if (asked === null) log.push(line);
    else jobs.push(asked);
  }
  return { jobs, log };
}

/** `type|payload`; a payload may hold bars of its own. */
function askedJob(text: string): AskedJob | null {
  const bar = text.indexOf("|");
  const type = text.slice(0, Math.max(0, bar));
  return TYPE.test(type) && Buffer.byteLength(type) <= TYPE_BYTES ? { type, payload: text.slice(bar + 1) } : null;
}
