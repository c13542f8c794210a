/** Runs handlers' code: in contexts of the pool, one job after the other. One bad job costs its context, not the others' ends. */
import type { Handler } from "@sluice/wire";
import { type Batch, type Ended, isOver, type JobInHand, payloadOf, type Runner, type RunPorts } from "../run/types.ts";
import type { Broken, Context, Limits, StepEnd } from "./context.ts";
import type { ContextPool } from "./pool.ts";

export interface NodeRunnerPorts {
  readonly pool: ContextPool;
  readonly batch: number;
  readonly timeoutMs: number;
  readonly cpuMs: number;
  readonly startMs: number;
  readonly resultBytes: number;
  /** Why code in this language is not run here; null: it is. */
  readonly refused: (lang: string) => string | null;
  readonly onBroken: (why: Broken) => void;
}

/** Errors of the run, not of the job's own making: tried again. */
const EXIT: Readonly<Record<Broken, number>> = {
  timeout: 504,
  cpu: 504,
  memory: 507,
  flood: 507,
  crash: 500,
  nonsense: 500,
  ended: 503,
};
const NOT_HERE = 503;
const TOO_LARGE = 413;
/** Of what a handler says about why it could not begin: it may be as long as it likes, and would be no result then. */
const DETAIL_KEPT = 10_000;

export function nodeRunner(ports: NodeRunnerPorts): Runner {
  return {
    batch: ports.batch,
    run: (batch, handler, run) => runBatch(batch, handler, run, ports),
    close: () => ports.pool.close(),
  };
}

async function runBatch(batch: Batch, handler: Handler, run: RunPorts, ports: NodeRunnerPorts): Promise<void> {
  const left = [...batch.jobs];
  while (left.length > 0) {
    const refused = ports.refused(handler.lang);
    if (refused !== null) {
      for (const job of left.splice(0)) await run.settle(job, { exit: NOT_HERE, result: refused });
      return;
    }
    await runInOneContext(left, handler, run, ports);
  }
}

/** Takes from `left` as many as one context lives through; at least one. */
async function runInOneContext(
  left: JobInHand[],
  handler: Handler,
  run: RunPorts,
  ports: NodeRunnerPorts,
): Promise<void> {
  const limits: Limits = { wallMs: handler.timeoutMs ?? ports.timeoutMs, cpuMs: ports.cpuMs };
  const { context, isNew } = ports.pool.take(handler);
  const prepared = await prepare(context, isNew, handler, ports, limits);
  if (!prepared.ok) {
    context.end("ended", "could not be prepared");
    for (const job of left.splice(0))
      await run.settle(job, { exit: 500, result: prepared.detail.slice(0, DETAIL_KEPT) });
    return;
  }
  for (let job = left.shift(); job !== undefined; job = left.shift()) {
    await runJob(context, job, { handler, run, ports, limits });
    if (!context.isReusable) break;
  }
  if (context.isReusable) await context.step("end", handler.id, limits);
  ports.pool.giveBack(handler, context);
}

async function prepare(
  context: Context,
  isNew: boolean,
  handler: Handler,
  { startMs }: NodeRunnerPorts,
  limits: Limits,
): Promise<StepEnd> {
  if (isNew) {
    const ready = await context.ready(startMs);
    if (!ready.ok) return ready;
  }
  const { id, before, beforeEach, body, afterEach } = handler;
  const loaded = await context.load({ id, before, beforeEach, body, afterEach }, limits);
  return loaded.ok ? context.step("begin", handler.id, limits) : loaded;
}

interface JobParts {
  readonly handler: Handler;
  readonly run: RunPorts;
  readonly ports: NodeRunnerPorts;
  readonly limits: Limits;
}

async function runJob(context: Context, job: JobInHand, { handler, run, ports, limits }: JobParts): Promise<void> {
  const signal = run.signalOf(job);
  if (signal.aborted) return;
  const onAbort = (): void => context.end("ended", "the job is no longer ours");
  signal.addEventListener("abort", onAbort, { once: true });
  run.started(job);
  const end = await context.run(handler.id, { id: job.id, type: job.type, payload: payloadOf(job) }, limits);
  signal.removeEventListener("abort", onAbort);
  if (end.kind === "broken") ports.onBroken(end.why);
  if (isOver(signal)) return;
  const { lines } = end.output;
  await run.settle(job, end.kind === "ended" ? sized({ ...end, lines }, ports.resultBytes) : brokenEnd(end, lines));
}

const brokenEnd = (
  { why, detail }: { readonly why: Broken; readonly detail: string },
  lines: readonly string[],
): Ended => ({
  exit: EXIT[why],
  result: `${why}: ${detail}`,
  // A run that was cut short asks for nothing: it runs again and asks then.
  lines: lines.filter((line) => !line.startsWith("J: ")),
});

function sized({ exit, result, lines }: Ended, maxBytes: number): Ended {
  if (result === undefined || Buffer.byteLength(result) <= maxBytes) return { exit, result, lines: lines ?? [] };
  return { exit: TOO_LARGE, result: `the result is larger than ${maxBytes} bytes`, lines: lines ?? [] };
}
