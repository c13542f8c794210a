import type { CallerLookup } from "@sluice/access";
import { ERRORS_MAX, type Problem, problem, type ProblemItem, requestIdOf, type WallOptions } from "@sluice/http-api";
import type { BatchPlace } from "@sluice/queue-core";
import type { Log } from "@sluice/stage-runtime";
import type { Response } from "express";
import type { IncomingFolders } from "../files/incoming.ts";
import type { KeptUploads } from "../files/kept-uploads.ts";
import type { IoFault } from "@sluice/safe-io";
import type { Acceptance, AcceptPorts } from "../submission/accept.ts";
import type { Backlog } from "../journal/backlog.ts";
import { type FieldProblem, WHOLE } from "../submission/field-problem.ts";
import type { OverQuota, Quotas } from "../quota/quotas.ts";
import type { ScheduleRefusal, SchedulePorts } from "../submission/schedule.ts";
import type { MerrittPorts } from "./merritt/deps.ts";
import type { ReadingDeps } from "./reading/deps.ts";

/** Of one form. */
export interface UploadLimits {
  readonly fileBytes: number;
  /** All of its files together. */
  readonly formBytes: number;
  /** What is read before the form has named its profile. */
  readonly unnamedBytes: number;
}

/** What the HTTP side works with. */
export interface HttpDeps extends AcceptPorts, SchedulePorts {
  readonly backlog: Backlog;
  readonly incoming: IncomingFolders;
  /** Of submissions in the journal. */
  readonly uploads: KeptUploads;
  readonly removeBatchFolder: (batch: BatchPlace) => Promise<void>;
  readonly uploadLimits: UploadLimits;
  readonly quotas: Quotas;
  /** For Merritt's `hostname` header. */
  readonly hostname: string;
  /** Of the software, for the documentation. */
  readonly version: string;
  readonly reading: ReadingDeps;
  readonly merritt: MerrittPorts;
  /** Who asks, and how often. */
  readonly wall: WallOptions;
  /** Who has this id now. */
  readonly callerById: CallerLookup["callerById"];
  /** A deposit for later does not run any more. */
  readonly onScheduleRefused: (schedule: number, why: string) => void;
  /** Whose X-Forwarded-For is believed. */
  readonly trustedProxies: readonly string[];
  readonly log: Log;
}

/** What is logged about this request is found by the id that its answer has. */
export const withRequest = (deps: HttpDeps, response: Response): HttpDeps => ({
  ...deps,
  log: deps.log.child({ request_id: requestIdOf(response) }),
});

/** When to ask again while nothing can be taken: longer than a lost session needs to come back. */
export const RETRY_AFTER_SECONDS = 15;

/** It was good when the request began. */
export const TOKEN_ENDED = problem("UNAUTHENTICATED", "your token has ended meanwhile: nothing was submitted");

export const unavailable = (why: string): Problem =>
  problem("UNAVAILABLE", why, { retryAfterSeconds: RETRY_AFTER_SECONDS });

/** Fields of a form by their names, those of a JSON body by pointer. */
export function wrongFields(problems: readonly FieldProblem[], where: "form" | "body"): Problem {
  const shown = problems.slice(0, ERRORS_MAX);
  const errors = shown.map(({ field, detail }): ProblemItem =>
    where === "form" ? { field: named(field), detail } : { pointer: field === WHOLE ? "" : `/${field}`, detail },
  );
  const more = problems.length > shown.length ? `; and ${problems.length - shown.length} more` : "";
  const detail = shown.map((one) => `${named(one.field)}: ${one.detail}`).join("; ") + more;
  return problem("INVALID_REQUEST", detail, { errors });
}

const named = (field: string): string => (field === WHOLE ? "submission" : field);

type Refusal = Exclude<Acceptance, { kind: "accepted" }> | ScheduleRefusal;

export function refusalProblem(refusal: Refusal, where: "form" | "body"): Problem {
  switch (refusal.kind) {
    case "not-theirs":
      return problem("FORBIDDEN", `you may not submit to ${refusal.profile}`);
    case "wrong-fields":
      return wrongFields(refusal.problems, where);
    case "wrong-digest":
      return problem("DIGEST_MISMATCH", refusal.detail);
    case "key-reused":
      return problem("IDEMPOTENCY_KEY_REUSED", `${refusal.uuid} was submitted under this key with other content`);
    case "no-room":
      return problem("INSUFFICIENT_STORAGE", "there is no room for the upload just now", {
        retryAfterSeconds: RETRY_AFTER_SECONDS,
      });
    case "over-quota":
      return overQuotaProblem(refusal);
    case "needs-token":
      return problem("FORBIDDEN", "deposits for later take a token: nobody can ask your provider at the time of a run");
    case "too-many-schedules":
      return problem("TOO_MANY_REQUESTS", `you have ${refusal.most} schedules, which is the limit: cancel one first`, {
        retryAfterSeconds: QUOTA_RETRY_SECONDS,
      });
    case "unavailable":
      return unavailable(refusal.why);
  }
}

/** Batches end within minutes to days: to ask more often than this is of no use. */
const QUOTA_RETRY_SECONDS = 60;

const QUOTA_SETTINGS: Readonly<Record<OverQuota["limit"], string>> = {
  batches: "COLLECTION_MAX_BATCHES",
  jobs: "COLLECTION_MAX_JOBS",
  queued: "COLLECTION_MAX_QUEUED_JOBS",
  bytes: "COLLECTION_MAX_BYTES",
};

export function overQuotaProblem({ profile, limit, inProgress, most, never }: OverQuota): Problem {
  const setting = `its limit is ${most} (${QUOTA_SETTINGS[limit]}, or its profile)`;
  if (never) return problem("PAYLOAD_TOO_LARGE", `the submission has ${inProgress} ${limit}; ${profile}: ${setting}`);
  const detail = `${profile} has ${inProgress} ${limit} in progress, and ${setting}: wait until some have ended`;
  return problem("TOO_MANY_REQUESTS", detail, { retryAfterSeconds: QUOTA_RETRY_SECONDS });
}

export function uploadProblem(fault: IoFault): Problem {
  if (fault.code === "NO_SPACE") return refusalProblem({ kind: "no-room" }, "form");
  return problem("INTERNAL_ERROR", "the upload could not be written down");
}
