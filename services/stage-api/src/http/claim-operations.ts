/** What callers say of a claim. Every word about it also keeps it. */
import { ANSWERED, type Operation, problem, type Problem } from "@sluice/http-api";
import { jobRow } from "@sluice/queue-core";
import { done, fail, type Outcome, retry, type Settled, snooze } from "@sluice/stage-runtime";
import { type ClaimView, type EndedClaim, STAGE_API, type StageChanges } from "@sluice/wire";
import type { Request, Response } from "express";
import { type ClaimRef, parseClaim } from "../claims/claim-ref.ts";
import { type Fate, fateOf, repeated, type Said } from "../claims/end-of-claim.ts";
import type { HeldClaim } from "../claims/held-claim.ts";
import { forbiddenChange, type RemoteStage } from "../stages.ts";
import type { StageApiDeps } from "./deps.ts";
import { changesOf, lockNameOf } from "./job-view.ts";
import { type Answered, type Asked, serve } from "./serve.ts";

type OfClaim = Asked<{ readonly claim: string }, unknown>;
type Found =
  | { readonly kind: "held"; readonly held: HeldClaim }
  | { readonly kind: "fate"; readonly fate: Exclude<Fate, { readonly kind: "foreign" }> }
  | { readonly kind: "problem"; readonly problem: Problem }
  | { readonly kind: "answered" };

const NO_CLAIM: Problem = problem("NOT_FOUND", "that names no claim of this stage");
const NOT_NOW = problem("UNAVAILABLE", "the process that holds the claim does not answer: ask again", {
  retryAfterSeconds: 2,
});
const lost = (why: string): Problem => problem("CLAIM_LOST", why);

export function claimOperations(deps: StageApiDeps): readonly Operation[] {
  const problems = ["CLAIM_LOST"] as const;
  return [
    serve(deps, STAGE_API.claim, async (asked) => await look(deps, asked), { problems }),
    serve(
      deps,
      STAGE_API.renew,
      async (asked) =>
        await whileHeld(deps, asked, (held) => {
          const { lease_ms: leaseMs, progress } = asked.body;
          held.renew(leaseMs);
          if (progress !== undefined) {
            const { done_bytes: doneBytes, total_bytes: totalBytes, note } = progress;
            held.ctx.progress({ doneBytes, totalBytes, ...(note === undefined ? {} : { note }) });
          }
          return Promise.resolve({ value: heldView(held) });
        }),
      { problems },
    ),
    serve(
      deps,
      STAGE_API.record,
      async (asked) =>
        await whileHeld(deps, asked, async (held) => {
          const refused = refusedChange(asked.stage, asked.body.changes);
          if (refused !== null) return { problem: refused };
          held.renew();
          const written = await held.ctx.record(changesOf(asked.body.changes));
          return written ? { value: heldView(held) } : { problem: lost("another writer has moved the job") };
        }),
      { problems },
    ),
    serve(
      deps,
      STAGE_API.locks,
      async (asked) =>
        await whileHeld(deps, asked, async (held) => {
          held.renew();
          return { value: { locked: await held.ctx.lockObjects(asked.body.locks.map(lockNameOf)) } };
        }),
      { problems },
    ),
    ...outcomeOperations(deps),
  ];
}

const ENDS = { problems: ["CLAIM_LOST", "CONFLICT"] } as const;

const outcomeOperations = (deps: StageApiDeps): readonly Operation[] => [
  serve(
    deps,
    STAGE_API.done,
    async (asked) => {
      const refused = refusedChange(asked.stage, asked.body.changes);
      if (refused !== null) return { problem: refused };
      return await end(deps, asked, "done", done(changesOf(asked.body.changes)));
    },
    ENDS,
  ),
  serve(
    deps,
    STAGE_API.retry,
    async (asked) => {
      const { code, message, delay_ms: delayMs } = asked.body;
      return await end(deps, asked, "retry", retry(code, message, delayMs));
    },
    ENDS,
  ),
  serve(
    deps,
    STAGE_API.snooze,
    async (asked) => await end(deps, asked, "snooze", snooze(asked.body.delay_ms, asked.body.why)),
    ENDS,
  ),
  serve(
    deps,
    STAGE_API.fail,
    async (asked) => await end(deps, asked, "fail", fail(asked.body.code, asked.body.message)),
    ENDS,
  ),
];

function refusedChange(stage: RemoteStage, changes: StageChanges): Problem | null {
  const change = forbiddenChange(stage, changes);
  if (change === null) return null;
  const detail = `a ${stage.stage} does not write ${change}, only ${stage.mayWrite.join(", ")}`;
  return problem("INVALID_REQUEST", detail, { errors: [{ pointer: `/changes/${change}`, detail }] });
}

async function look(deps: StageApiDeps, asked: OfClaim): Promise<Answered<ClaimView>> {
  const found = await find(deps, asked);
  switch (found.kind) {
    case "held":
      return { value: heldView(found.held) };
    case "answered":
      return ANSWERED;
    case "problem":
      return found;
    case "fate":
      return fateView(deps, asked.stage, found.fate);
  }
}

function fateView(
  deps: StageApiDeps,
  stage: RemoteStage,
  fate: Exclude<Fate, { readonly kind: "foreign" }>,
): Answered<ClaimView> {
  if (fate.kind === "ended") {
    const ended = { outcome: fate.as, state: fate.state, repeated: true };
    return { value: { held: false, lease_ms: null, ended } };
  }
  return { problem: problemOfFate(deps, stage, fate) };
}

function problemOfFate(
  { metrics }: StageApiDeps,
  { stage }: RemoteStage,
  fate: Exclude<Fate, { readonly kind: "foreign" | "ended" }>,
): Problem {
  if (fate.kind !== "lost") return NOT_NOW;
  metrics.late.inc({ stage });
  return lost(fate.why);
}

const heldView = (held: HeldClaim): ClaimView => ({ held: true, lease_ms: held.leftMs, ended: null });

/** For what takes a claim that counts. */
async function whileHeld<A>(
  deps: StageApiDeps,
  asked: OfClaim,
  act: (held: HeldClaim) => Promise<Answered<A>>,
): Promise<Answered<A>> {
  const found = await find(deps, asked);
  switch (found.kind) {
    case "held":
      return found.held.isHeld ? await act(found.held) : { problem: lost("the claim is being ended") };
    case "answered":
      return ANSWERED;
    case "problem":
      return found;
    case "fate":
      if (found.fate.kind === "ended") return { problem: lost(`the claim ended as ${found.fate.as}`) };
      return { problem: problemOfFate(deps, asked.stage, found.fate) };
  }
}

async function end(deps: StageApiDeps, asked: OfClaim, said: Said, outcome: Outcome): Promise<Answered<EndedClaim>> {
  const found = await find(deps, asked);
  switch (found.kind) {
    case "answered":
      return ANSWERED;
    case "problem":
      return found;
    case "fate":
      return endedBefore(deps, asked.stage, found.fate, said);
    case "held": {
      const ending = await found.held.end(outcome);
      if (ending.kind === "too-late") return { problem: problem("CONFLICT", ending.why) };
      return endedNow(deps, asked.stage, ending.how);
    }
  }
}

function endedBefore(
  deps: StageApiDeps,
  stage: RemoteStage,
  fate: Exclude<Fate, { readonly kind: "foreign" }>,
  said: Said,
): Answered<EndedClaim> {
  if (fate.kind !== "ended") return { problem: problemOfFate(deps, stage, fate) };
  const again = repeated(said, fate);
  return again.kind === "same" ? { value: again.ended } : { problem: problem("CONFLICT", again.why) };
}

function endedNow({ metrics }: StageApiDeps, { stage, takes }: RemoteStage, how: Settled): Answered<EndedClaim> {
  if (how.as === "lost" || how.as === "handback") {
    metrics.late.inc({ stage });
    return { problem: lost(`${how.why}: drop what was done`) };
  }
  const state = how.to ?? jobRow(takes).done ?? takes;
  return { value: { outcome: how.as, state, repeated: false } };
}

/** Where the claim is: in our hands, in another process's, or over. */
async function find(deps: StageApiDeps, { stage, params, request, response }: OfClaim): Promise<Found> {
  const ref = parseClaim(params.claim);
  if (ref === null) return { kind: "problem", problem: NO_CLAIM };
  const held = deps.seats.find(ref, stage);
  if (held !== null) return { kind: "held", held };
  if (await isPassedOn(deps, ref, request, response)) return { kind: "answered" };
  const open = deps.service.queue();
  if (open === null) return { kind: "problem", problem: NOT_NOW };
  const fate = await fateOf(open.context.session, ref, stage);
  return fate.kind === "foreign" ? { kind: "problem", problem: NO_CLAIM } : { kind: "fate", fate };
}

async function isPassedOn(
  { peers, service }: StageApiDeps,
  { holder }: ClaimRef,
  request: Request,
  response: Response,
): Promise<boolean> {
  if (holder === service.actor.worker || peers.wasPassedOn(request)) return false;
  return await peers.passOn(holder, request, response);
}
