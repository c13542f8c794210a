/** The stage API: what a stage in any language asks for its jobs. */
import { ERROR_CODES, type ErrorCode, EVENT_KINDS } from "@sluice/queue-core";
import { z } from "zod";
import { jobState, stage } from "./common.ts";
import { endpoint } from "./endpoint.ts";

export const STAGE_LIMITS = {
  waitMs: { most: 60_000, default: 20_000 },
  leaseMs: { least: 1_000, most: 3_600_000 },
  delayMs: { most: 7 * 86_400_000 },
} as const;

/** Becomes a znode's name, and stands in logs and events. */
const workerName = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/, "1 to 64 letters, digits, dots, dashes");
const errorCode = z.enum(Object.keys(ERROR_CODES) as [ErrorCode, ...ErrorCode[]]);
const leaseMs = z.number().int().min(STAGE_LIMITS.leaseMs.least).max(STAGE_LIMITS.leaseMs.most);
const delayMs = z.number().int().min(0).max(STAGE_LIMITS.delayMs.most);
const why = z.string().trim().min(1).max(1_000);
const claimName = z.object({ epoch: z.number().int(), token: z.number().int() });

const Identifiers = z.looseObject({ primary_id: z.string().nullable(), local_id: z.array(z.string()) });
const Metadata = z.looseObject({
  erc_who: z.string().optional(),
  erc_what: z.string().optional(),
  erc_when: z.string().optional(),
  erc_where: z.string().optional(),
});
const Inventory = z.looseObject({ manifest_url: z.string(), mode: z.string() });

export const StageJob = z
  .object({
    id: z.string().describe("its JID in the tree"),
    uuid: z.string().describe("its name outside; use it as the key of what you write"),
    batch_id: z.string(),
    state: jobState,
    attempt: z.number().int().describe("1 for the first attempt of this stage"),
    retry_count: z.number().int().describe("how often an operator resumed it"),
    last_successful: jobState.nullable(),
    entered_at: z.string().describe("when it came into this state"),
    message: z.string(),
    priority: z.number().int().describe("0 (first) to 99"),
    space_needed: z.number().int().describe("bytes; 0: unknown"),
    configuration: z.record(z.string(), z.unknown()).describe("what was submitted, as in /jobs/JID/configuration"),
    identifiers: Identifiers.nullable(),
    metadata: Metadata.nullable(),
    inventory: Inventory.nullable().describe("where the stored version is"),
    files: claimName.nullable().describe("the claim whose files count"),
    fence: claimName.describe("of this claim: a later claim of the same job has a larger pair"),
  })
  .meta({ id: "StageJob" });
export type StageJob = z.infer<typeof StageJob>;

export const Take = z.strictObject({
  worker: workerName.describe("your name: in workers, locks and histories; each process has one of its own"),
  version: z.string().max(100).default("").describe("for people: what you are"),
  wait_ms: z
    .number()
    .int()
    .min(0)
    .max(STAGE_LIMITS.waitMs.most)
    .default(STAGE_LIMITS.waitMs.default)
    .describe("how long to wait for a job; half a second at least"),
  lease_ms: leaseMs.optional().describe("how long the claim lasts without a call; the service's default if absent"),
});
export const StageTaken = z
  .object({
    claim: z.string().nullable().describe("names the claim in all further calls; null: there was no job to take"),
    lease_ms: z.number().int(),
    job: StageJob.nullable(),
  })
  .meta({ id: "TakenStageJob" });
export type StageTaken = z.infer<typeof StageTaken>;

export const StageChanges = z
  .strictObject({
    identifiers: Identifiers.optional(),
    metadata: Metadata.optional(),
    inventory: Inventory.optional(),
    space_needed: z.number().int().min(0).optional(),
    priority_delta: z.number().int().min(-99).max(99).optional(),
    keep_files: z.literal(true).optional().describe("the files of this claim are the ones that count from now on"),
    message: z.string().max(1_000).optional(),
  })
  .meta({ id: "Changes" });
export type StageChanges = z.infer<typeof StageChanges>;

const ObjectLock = z.discriminatedUnion("kind", [
  z.strictObject({ kind: z.literal("storage"), ark: z.string().min(1).max(500) }),
  z.strictObject({ kind: z.literal("inventory"), ark: z.string().min(1).max(500) }),
  z.strictObject({
    kind: z.literal("localid"),
    local_id: z.string().min(1).max(1_000),
    owner_ark: z.string().min(1).max(500),
  }),
]);
export type ObjectLock = z.infer<typeof ObjectLock>;

export const EndedClaim = z
  .object({
    outcome: z
      .enum([...EVENT_KINDS])
      .describe("what became of the claim: usually what you said; a held collection parks a job that is done, say"),
    state: jobState.describe("where that led"),
    repeated: z.boolean().describe("it had ended so before this call"),
  })
  .meta({ id: "EndedClaim" });
export type EndedClaim = z.infer<typeof EndedClaim>;

export const ClaimView = z
  .object({
    held: z.boolean().describe("the claim still counts"),
    lease_ms: z.number().int().nullable().describe("what is left of it; null: it is not held"),
    ended: EndedClaim.nullable().describe("how it ended; null: it is held"),
  })
  .meta({ id: "ClaimView" });
export type ClaimView = z.infer<typeof ClaimView>;

export const StageInfo = z
  .object({
    stage,
    state: jobState,
    waiting: z.number().int().describe("jobs in its queue, those in hand included"),
    closed: z.array(z.string()).describe("why nothing is claimed: queue-paused, stage-paused; empty: it is"),
    may_write: z.array(z.string()).describe("the changes that this stage may make"),
    workers: z.array(z.object({ worker: z.string(), via: z.string().nullable(), jobs: z.number().int() })),
  })
  .meta({ id: "StageInfo" });
export type StageInfo = z.infer<typeof StageInfo>;

const ofStage = z.strictObject({ stage: z.string().max(64) });
const ofClaim = z.strictObject({ stage: z.string().max(64), claim: z.string().max(200) });
const permission = "work-stage";
const CLAIM = "/v1/stages/{stage}/claims/{claim}";

export const STAGE_API = {
  stage: endpoint({
    id: "stage",
    method: "get",
    path: "/v1/stages/{stage}",
    group: "Stage",
    summary: "How the stage's queue stands, and who works it",
    permission,
    params: ofStage,
    answer: StageInfo,
    status: 200,
  }),
  take: endpoint({
    id: "take",
    method: "post",
    path: "/v1/stages/{stage}/claims",
    group: "Claims",
    summary: "Take a job: waits for one",
    permission,
    params: ofStage,
    body: Take,
    answer: StageTaken,
    status: 200,
  }),
  claim: endpoint({
    id: "claim",
    method: "get",
    path: CLAIM,
    group: "Claims",
    summary: "Whether a claim still counts, or how it ended",
    permission,
    params: ofClaim,
    answer: ClaimView,
    status: 200,
  }),
  renew: endpoint({
    id: "renew",
    method: "post",
    path: `${CLAIM}/renew`,
    group: "Claims",
    summary: "Keep the claim, and show how far the work is",
    permission,
    params: ofClaim,
    body: z.strictObject({
      lease_ms: leaseMs.optional(),
      progress: z
        .strictObject({
          done_bytes: z.number().min(0),
          total_bytes: z.number().min(0).nullable().default(null),
          note: z.string().max(100).optional(),
        })
        .optional(),
    }),
    answer: ClaimView,
    status: 200,
  }),
  record: endpoint({
    id: "record",
    method: "post",
    path: `${CLAIM}/record`,
    group: "Claims",
    summary: "Write findings down before anything depends on them",
    permission,
    params: ofClaim,
    body: z.strictObject({ changes: StageChanges }),
    answer: ClaimView,
    status: 200,
  }),
  locks: endpoint({
    id: "locks",
    method: "post",
    path: `${CLAIM}/locks`,
    group: "Claims",
    summary: "Lock objects for as long as the claim lasts, all or none",
    permission,
    params: ofClaim,
    body: z.strictObject({ locks: z.array(ObjectLock).min(1).max(100) }),
    answer: z.object({ locked: z.boolean().describe("false: another job has one of them; snooze") }),
    status: 200,
  }),
  done: endpoint({
    id: "done",
    method: "post",
    path: `${CLAIM}/done`,
    group: "Outcomes",
    summary: "The stage succeeded: the job goes where the table says",
    permission,
    params: ofClaim,
    body: z.strictObject({ changes: StageChanges.default({}) }),
    answer: EndedClaim,
    status: 200,
  }),
  retry: endpoint({
    id: "retry",
    method: "post",
    path: `${CLAIM}/retry`,
    group: "Outcomes",
    summary: "A transient failure: again after a delay, GIVEN_UP after ATTEMPTS_MAX",
    permission,
    params: ofClaim,
    body: z.strictObject({
      code: errorCode,
      message: why,
      delay_ms: delayMs.optional().describe("what the other side asked for; without: 1 s × 4 per attempt, up to 5 min"),
    }),
    answer: EndedClaim,
    status: 200,
  }),
  snooze: endpoint({
    id: "snooze",
    method: "post",
    path: `${CLAIM}/snooze`,
    group: "Outcomes",
    summary: "Not now, and no fault of the job: no attempt is counted",
    permission,
    params: ofClaim,
    body: z.strictObject({ delay_ms: delayMs, why }),
    answer: EndedClaim,
    status: 200,
  }),
  fail: endpoint({
    id: "fail",
    method: "post",
    path: `${CLAIM}/fail`,
    group: "Outcomes",
    summary: "The job is Failed",
    permission,
    params: ofClaim,
    body: z.strictObject({ code: errorCode, message: why }),
    answer: EndedClaim,
    status: 200,
  }),
} as const;
