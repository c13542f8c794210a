/** Taking a job: registers the worker, and waits for one. */
import { ANSWERED, type Operation, problem } from "@sluice/http-api";
import { STAGE_API, type StageTaken } from "@sluice/wire";
import type { Request, Response } from "express";
import { printClaim } from "../claims/claim-ref.ts";
import type { HeldClaim } from "../claims/held-claim.ts";
import type { Seat } from "../claims/seat.ts";
import type { Entered, Newcomer } from "../claims/seats.ts";
import type { StageApiDeps } from "./deps.ts";
import { jobView } from "./job-view.ts";
import { type Answered, serve } from "./serve.ts";

const DESCRIPTION =
  "Your worker is registered by its name for as long as it asks or holds claims. Send an `Idempotency-Key`: the same take again, after a lost " +
  "answer, gets the same claim. The claim lasts `lease_ms` from your last call about it; then its job is offered again, with the attempt counted.";

const AWAY = problem("UNAVAILABLE", "no job can be claimed at the moment: ask again", { retryAfterSeconds: 1 });

export const takeOperation = (deps: StageApiDeps): Operation =>
  serve(
    deps,
    STAGE_API.take,
    async ({ stage, body, request, response }) => {
      const { worker, version, wait_ms: waitMs, lease_ms: leaseMs = deps.config.LEASE_MS } = body;
      const newcomer = { stage, worker, version, waitMs, host: request.ip ?? "" };
      const entered = await enterOrPassOn(deps, newcomer, request, response);
      if (entered === ANSWERED) return ANSWERED;
      if (entered.kind !== "seat") return { problem: problemOf(entered) };
      const key = request.get("Idempotency-Key") ?? null;
      return await take(deps, entered.seat, { waitMs, leaseMs, key }, response);
    },
    { problems: ["CONFLICT", "TOO_MANY_REQUESTS"], keyed: true, description: DESCRIPTION },
  );

/** A worker is registered at one stage-api; one that does not answer is tried once. */
async function enterOrPassOn(
  { seats, peers, leaving }: StageApiDeps,
  newcomer: Newcomer,
  request: Request,
  response: Response,
): Promise<Entered | typeof ANSWERED> {
  const tried = new Set<string>();
  while (!leaving.aborted) {
    const entered = await seats.enter(newcomer, tried);
    if (entered.kind !== "elsewhere") return entered;
    if (peers.wasPassedOn(request)) return { kind: "away" };
    if (await peers.passOn(entered.holder, request, response)) return ANSWERED;
    tried.add(entered.holder);
  }
  return { kind: "away" };
}

function problemOf(
  entered: Exclude<Entered, { readonly kind: "seat" | "elsewhere" }> | { readonly kind: "elsewhere" },
) {
  switch (entered.kind) {
    case "name-taken":
      return problem("CONFLICT", entered.why);
    case "full":
      return problem("TOO_MANY_REQUESTS", "too many workers are registered here", { retryAfterSeconds: 30 });
    case "away":
    case "elsewhere":
      return AWAY;
  }
}

/** Looking for a job and claiming it takes round trips, also for whoever does not want to wait. */
const LOOKING_MS = 500;

interface Asked {
  readonly waitMs: number;
  readonly leaseMs: number;
  readonly key: string | null;
}

async function take(
  { service, config, leaving }: StageApiDeps,
  seat: Seat,
  { waitMs, leaseMs, key }: Asked,
  response: Response,
): Promise<Answered<StageTaken>> {
  if (seat.held + seat.waiting >= config.CLAIMS_PER_WORKER)
    return {
      problem: problem("TOO_MANY_REQUESTS", `a worker holds at most ${config.CLAIMS_PER_WORKER} claims`, {
        retryAfterSeconds: 5,
      }),
    };
  const hungUp = new AbortController();
  response.once("close", () => hungUp.abort());
  const request = {
    waitMs: Math.max(waitMs, LOOKING_MS),
    leaseMs,
    key,
    gone: AbortSignal.any([hungUp.signal, leaving]),
  };
  const held = await seat.take(request);
  if (held === null) return { value: { claim: null, lease_ms: leaseMs, job: null } };
  response.once("close", () => {
    if (!response.writableFinished) seat.notTold(held, request);
  });
  return { value: takenView(held, service.actor.worker, leaseMs) };
}

const takenView = ({ job, ctx }: HeldClaim, holder: string, leaseMs: number): StageTaken => ({
  claim: printClaim({ job: job.id, id: ctx.claimId, holder }),
  lease_ms: leaseMs,
  job: jobView(job),
});
