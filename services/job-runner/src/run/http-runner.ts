/** `http` handlers: a batch is one request, a line for each job there and back. */
import type { Egress, IoFault } from "@sluice/safe-io";
import type { Handler } from "@sluice/wire";
import { endsOf } from "../decide/status-lines.ts";
import { type Batch, type Ended, payloadOf, type Runner, type RunPorts } from "./types.ts";

export interface HttpRunnerPorts {
  /** Bounded sockets, kept alive; asks only what the fleet may ask. */
  readonly egress: Pick<Egress, "post" | "close">;
  readonly timeoutMs: number;
}

const BATCH = 10;
const ANSWER_BYTES = 16 * 1024 * 1024;

export function httpRunner(ports: HttpRunnerPorts): Runner {
  return {
    batch: BATCH,
    run: (batch, handler, run) => runBatch(batch, handler, run, ports),
    close: () => ports.egress.close(),
  };
}

async function runBatch({ jobs, type }: Batch, handler: Handler, run: RunPorts, ports: HttpRunnerPorts): Promise<void> {
  const ours = jobs.filter((job) => !run.signalOf(job).aborted);
  if (ours.length === 0) return;
  for (const job of ours) run.started(job);
  const answer = await ports.egress.post(handler.body.trim(), {
    contentType: "text/plain; charset=utf-8",
    // A payload with a line's end in it would be two.
    body: ours.map((job) => `${payloadOf(job).replaceAll(/[\r\n]+/g, " ")}\n`).join(""),
    headers: { "Job-Type": encodeURIComponent(type), "Job-Ids": ours.map(({ id }) => id).join(",") },
    totalTimeoutMs: handler.timeoutMs ?? ports.timeoutMs,
    maxBytes: ANSWER_BYTES,
  });
  const text = answer.ok ? await answer.value.text() : answer;
  const ends = text.ok ? endsOf(text.value, ours.length) : ours.map(() => endOf(text.error));
  for (const [at, job] of ours.entries()) {
    const end = ends[at];
    if (end !== undefined && !run.signalOf(job).aborted) await run.settle(job, end);
  }
}

/** An address that may not be asked will not be allowed by asking again. */
function endOf({ code, message }: IoFault): Ended {
  if (code === "EGRESS_REFUSED") return { exit: 403, result: message };
  return { exit: code === "TIMEOUT" ? 504 : 502, result: message };
}
