/** How a run ends: what a handler returns or throws, in the words of the queue. */
import type { TakenJob } from "@sluice/wire";

type Data = Readonly<Record<string, unknown>>;

/** Made by `finish`, `retry` and `fail`, so that nothing a handler returns by chance is taken for one. */
export class Ending {
  readonly how: "finish" | "retry" | "fail";
  readonly with: EndingOptions & RetryOptions;

  constructor(how: Ending["how"], options: EndingOptions & RetryOptions) {
    this.how = how;
    this.with = options;
  }
}

export interface EndingOptions {
  /** Replaces the job's data. */
  readonly data?: Data;
  readonly result?: string;
  readonly exitCode?: number;
}

export interface RetryOptions {
  /** Not before so many seconds; a job that repeats comes at its next time instead. */
  readonly delay?: number;
  readonly ignoreRepeat?: boolean;
}

export const finish = (options: EndingOptions = {}): Ending => new Ending("finish", options);
export const retry = (options: EndingOptions & RetryOptions = {}): Ending => new Ending("retry", options);
/** For good: it is kept as FAILED until somebody looks at it. */
export const fail = (options: EndingOptions = {}): Ending => new Ending("fail", options);

/** What is no ending is the result of a run that went well. */
export function endingOf(returned: unknown): Ending {
  if (returned instanceof Ending) return returned;
  if (returned === undefined) return finish();
  return finish({ exitCode: 200, result: typeof returned === "string" ? returned : JSON.stringify(returned) });
}

export interface Patience {
  /** How often a job is tried that throws, in all; then it is FAILED. Up to six are counted. */
  readonly attempts: number;
  readonly firstDelayMs: number;
  readonly longestDelayMs: number;
}

export const PATIENCE: Patience = { attempts: 5, firstDelayMs: 5_000, longestDelayMs: 300_000 };

/** `attempts`: with this one. A job that repeats has its next time anyway, and must not lose its schedule. */
export function endingAfterThrow(job: TakenJob, error: unknown, attempts: number, patience: Patience): Ending {
  const result = error instanceof Error ? error.message : String(error);
  if (job.repeat !== "") return retry({ exitCode: 500, result });
  if (attempts >= patience.attempts) return fail({ exitCode: 500, result });
  const delayMs = Math.min(patience.firstDelayMs * 2 ** (attempts - 1), patience.longestDelayMs);
  return retry({ exitCode: 500, result, delay: Math.ceil(delayMs / 1_000) });
}

/** What a run of a job begins with. */
const STARTS: ReadonlySet<string> = new Set(["create", "repeat", "requeue"]);

/** How often a job was taken in its present run, by the events that its record keeps. */
export function attemptsIn(events: readonly { readonly what: string }[]): number {
  const since = events.findLastIndex(({ what }) => STARTS.has(what));
  return events.slice(since + 1).filter(({ what }) => what === "take").length;
}
