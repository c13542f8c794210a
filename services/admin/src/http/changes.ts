/** Operators' actions as answers: what was done, or why not and who was faster. Each leaves a log line and is counted. */
import type { Caller } from "@sluice/access";
import { type Problem, problem, requestIdOf } from "@sluice/http-api";
import type { ActionResult, BatchId, LastChange, Operator } from "@sluice/queue-core";
import type { Done } from "@sluice/wire";
import type { Response } from "express";
import { nothing } from "./answers.ts";
import type { AdminDeps } from "./deps.ts";
import type { Seen } from "./serve.ts";

export interface Change {
  readonly caller: Caller;
  readonly response: Response;
  /** As in the audit: job.resume, collection.hold. */
  readonly action: string;
  readonly target: string;
  /** Of a job: whose it is. */
  readonly batchId?: BatchId;
  readonly reason: string;
  /** What a caller is told when it was done. */
  readonly message: string;
  /** The kind of thing: job, batch, collection. */
  readonly what: string;
}

export const operatorOf = ({ id, name, scope }: Caller, reason: string): Operator => ({
  name,
  caller: id,
  reason,
  ...(scope === "all" ? {} : { collections: scope }),
});

export const confirmation = (why: string): { readonly problem: Problem } => ({
  problem: problem("CONFIRMATION_NEEDED", `${why}; send confirm: true if it must be so`),
});

export const LOST = {
  problem: problem("UNAVAILABLE", "ZooKeeper was lost in the middle: look whether it was done before asking again", {
    retryAfterSeconds: 5,
  }),
} as const;

/** Carries it out and says what came of it. */
export async function change(
  { log, metrics, index }: Pick<AdminDeps, "log" | "metrics" | "index">,
  { caller, response, action, target, batchId, reason, message, what }: Change,
  act: (operator: Operator) => Promise<ActionResult>,
): Promise<Seen<Done>> {
  const result = await act(operatorOf(caller, reason));
  index.refresh();
  metrics.changes.inc({ action, result: result.kind });
  const ids = idsIn(`${target} ${batchId ?? ""}`);
  const facts = {
    ...{ actor: caller.name, caller: caller.id, action, target, ...ids },
    ...{ reason, request_id: requestIdOf(response) },
  };
  log.info({ ...facts, result: result.kind, ...("why" in result ? { why: result.why } : {}) }, "an operator's change");
  return replyTo(result, message, what);
}

/** As in all other lines about a job or a batch: by these they are found together. */
function idsIn(text: string): { readonly job_id?: string; readonly batch_id?: string } {
  const [job, batch] = [/\bjid\d{10}\b/.exec(text)?.[0], /\bbid\d{10}\b/.exec(text)?.[0]];
  return { ...(job === undefined ? {} : { job_id: job }), ...(batch === undefined ? {} : { batch_id: batch }) };
}

function replyTo(result: ActionResult, message: string, what: string): Seen<Done> {
  switch (result.kind) {
    case "applied":
      return { value: { done: true, message } };
    case "refused":
    case "conflict":
      return { problem: problem("CONFLICT", `${result.why}${winner(result.last)}`) };
    case "not-found":
      return nothing(what);
    case "lost":
      return LOST;
  }
}

const winner = (last: LastChange | undefined): string =>
  last === undefined ? "" : ` (last changed by ${last.actor}: ${last.action}, ${last.at})`;
