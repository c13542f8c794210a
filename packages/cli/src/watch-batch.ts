/** A batch until it is over, with bars: rows made, jobs done, bytes coming in. */
import type { Answer, EventsOf } from "@sluice/client";
import type { BatchSummary, Job, JobSummary } from "@sluice/wire";
import type { Option } from "./command.ts";
import { type Context, refuse, stop } from "./context.ts";
import { EXIT, type ExitCode } from "./exit-codes.ts";
import { type Bar, makeProgress } from "./interact/progress.ts";
import type { Page } from "./pages.ts";
import { plural } from "./output/text.ts";

export const TIMEOUT: Option = {
  name: "timeout",
  value: "SPAN",
  kind: "seconds",
  says: "give up watching after 90s, 10m, 2h",
};

/** What is the same in both APIs. */
export type WatchedBatch = Pick<BatchSummary, "id" | "message" | "rows" | "created" | "counts"> & {
  /** null while it is not in the queue. */
  readonly bid: string | null;
  readonly status: string;
};

export interface BatchSource {
  readonly events: (signal: AbortSignal) => EventsOf<WatchedBatch>;
  readonly jobsInHand: () => Promise<Answer<Page<JobSummary>>>;
  readonly job: (jid: string) => Promise<Answer<Job>>;
}

const OVER: readonly string[] = ["Completed", "Failed", "Deleted", "Refused"];
const DOWNLOADS_SHOWN = 4;
const DOWNLOADS_EVERY_MS = 1_000;

export async function watchBatch(context: Context, source: BatchSource): Promise<ExitCode> {
  const { io, given } = context;
  const seconds = given.seconds("timeout");
  const deadline = seconds === undefined ? null : AbortSignal.timeout(seconds * 1_000);
  const ended = new AbortController();
  const signal = AbortSignal.any([io.interrupted, ended.signal, ...(deadline === null ? [] : [deadline])]);
  const progress = makeProgress(io);
  let last: WatchedBatch | null = null;
  let downloads: readonly Bar[] = [];
  const draw = (): void => {
    if (last !== null) progress.update([...batchBars(last), ...downloads]);
  };
  const looking = lookAtDownloads(source, signal, (bars) => {
    downloads = bars;
    draw();
  });
  try {
    for await (const event of source.events(signal)) {
      if (!event.ok) {
        if (signal.aborted) break;
        if (event.kind === "refused") return refuse(context, event);
        context.printer.note(`no answer (${event.why}); trying again`);
        continue;
      }
      last = event.value;
      draw();
      if (OVER.includes(last.status)) break;
    }
  } finally {
    ended.abort();
    await looking;
    downloads = [];
    draw();
    progress.end();
  }
  return outcome(context, last, deadline?.aborted === true);
}

function outcome(context: Context, last: WatchedBatch | null, late: boolean): ExitCode {
  const { io, printer } = context;
  const name = last?.bid ?? last?.id ?? context.args[0] ?? "";
  const again = `sluice batch watch ${name}`;
  if (last === null || !OVER.includes(last.status)) {
    if (io.interrupted.aborted) return stop(context, EXIT.interrupted, "the batch goes on without you", again);
    if (late) return stop(context, EXIT.timeout, `${name} is still ${last?.status ?? "unknown"}; it goes on`, again);
    return stop(context, EXIT.error, "the stream ended before the batch did", again);
  }
  const { completed, failed } = last.counts;
  const message = `${name} is ${last.status}: ${plural(completed, "job")} completed, ${failed} failed${last.message === "" ? "" : `; ${last.message}`}`;
  printer.done(last, name, message);
  if (last.status === "Completed") return EXIT.ok;
  // Without a job that failed it is the batch itself: there is nothing to resume.
  const next =
    failed > 0 ? `sluice batch jobs ${name} --outcome failed` : "mend what the message names, and submit again";
  if (last.status === "Failed") printer.note(`  Next: ${next}`);
  return EXIT.attention;
}

export function batchBars({ status, rows, created, counts, bid, id }: WatchedBatch): readonly Bar[] {
  const over = counts.completed + counts.failed + counts.deleted;
  const failed = counts.failed === 0 ? "" : `, ${counts.failed} failed`;
  const bars: Bar[] = [];
  if (rows !== null && created < rows) bars.push({ label: "jobs made", done: created, total: rows, unit: "count" });
  bars.push({ label: bid ?? id, done: over, total: rows, unit: "count", note: `${status}${failed}` });
  return bars;
}

/** Which files are coming in just now, and how much of them is here. Looked at only now and then. */
async function lookAtDownloads(
  source: BatchSource,
  signal: AbortSignal,
  show: (bars: readonly Bar[]) => void,
): Promise<void> {
  for (;;) {
    await pause(DOWNLOADS_EVERY_MS, signal);
    if (signal.aborted) return;
    const page = await source.jobsInHand();
    if (!page.ok) continue;
    const working = page.value.items.filter((job) => job.working_on_it === "downloader").slice(0, DOWNLOADS_SHOWN);
    const jobs = await Promise.all(working.map(({ jid }) => source.job(jid)));
    show(jobs.flatMap((answer) => (answer.ok ? downloadBar(answer.value) : [])));
  }
}

export function downloadBar({ jid, progress, payload_name: name }: Job): readonly Bar[] {
  if (progress === null) return [];
  return [{ label: name ?? jid, done: progress.done_bytes, total: progress.total_bytes, unit: "bytes" }];
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      signal.removeEventListener("abort", end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal.addEventListener("abort", end, { once: true });
  });
}
