/** The wire's filter as the queue's, cut to what the caller may see. */
import type { Scope } from "@sluice/access";
import { type Problem, problem } from "@sluice/http-api";
import {
  type BatchId,
  ERROR_CODES,
  type ErrorCode,
  findJobId,
  type JobFilter as QueueFilter,
  type JobId,
  parseJobId,
  parseJobUuid,
} from "@sluice/queue-core";
import type { OpenQueue } from "@sluice/stage-runtime";
import type { JobFilter } from "@sluice/wire";
import { isMeant } from "../index/search.ts";
import { foundOr } from "../http/looks.ts";
import { lookUpBatch } from "../views/lookup.ts";

type Read = { readonly filter: QueueFilter } | { readonly problem: Problem };

const wrong = (pointer: string, detail: string): { readonly problem: Problem } => ({
  problem: problem("INVALID_REQUEST", "the filter is wrong", { errors: [{ pointer, detail }] }),
});

export async function readFilter(open: OpenQueue, given: JobFilter, scope: Scope): Promise<Read> {
  if (Object.values(given).every((value) => value === undefined)) {
    return wrong("/filter", "name what is meant: ids, states, a batch, a profile, …");
  }
  // As in the list: an id means this one job, anything else is looked for in its words.
  const named = given.q === undefined ? null : await jobIdOf(open, given.q);
  const listed = given.ids === undefined ? undefined : await Promise.all(given.ids.map((id) => jobIdOf(open, id)));
  const ids = named === null ? listed : (listed ?? [named]).filter((id) => id === null || id === named);
  const unknown = ids?.indexOf(null) ?? -1;
  if (unknown >= 0) return wrong(`/filter/ids/${unknown}`, "is no id of a job");
  const batch = given.batch === undefined ? undefined : await batchNamed(open, given.batch, scope);
  if (typeof batch === "object") return batch;
  const { error_code: code } = given;
  if (code !== undefined && !isErrorCode(code)) return wrong("/filter/error_code", "there is no such code");
  const { priority_from: min, priority_to: max } = given;
  return {
    filter: {
      ...(ids === undefined ? {} : { ids: ids.filter((id) => id !== null) }),
      ...(given.states === undefined ? {} : { states: given.states }),
      ...(batch === undefined ? {} : { batch }),
      ...(given.profile === undefined ? {} : { collection: given.profile }),
      ...(scope === "all" ? {} : { collections: scope }),
      ...(given.submitter === undefined ? {} : { submitter: given.submitter }),
      ...(code === undefined ? {} : { errorCode: code }),
      ...(given.q === undefined || named !== null ? {} : { wants: (words) => isMeant(given.q ?? "", words) }),
      ...(min === undefined && max === undefined ? {} : { priority: rangeOf(min, max) }),
      ...(given.older_than_seconds === undefined ? {} : { olderThanMs: given.older_than_seconds * 1_000 }),
    },
  };
}

/** Whether others have one of this name is not the caller's to know. */
async function batchNamed(
  open: OpenQueue,
  raw: string,
  scope: Scope,
): Promise<BatchId | { readonly problem: Problem }> {
  const view = await lookUpBatch(open, raw, scope);
  if (view.kind === "none") return wrong("/filter/batch", "there is no such batch");
  const found = foundOr(view, "batch");
  return "problem" in found ? found : found.value.id;
}

const rangeOf = (
  min: number | undefined,
  max: number | undefined,
): { readonly min?: number; readonly max?: number } => ({
  ...(min === undefined ? {} : { min }),
  ...(max === undefined ? {} : { max }),
});

async function jobIdOf({ context }: OpenQueue, raw: string): Promise<JobId | null> {
  const uuid = parseJobUuid(raw);
  return uuid === null ? parseJobId(raw) : await findJobId(context.session, uuid);
}

const isErrorCode = (raw: string): raw is ErrorCode => Object.hasOwn(ERROR_CODES, raw);
