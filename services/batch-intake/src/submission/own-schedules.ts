/** A depositor's own deposits for later: they list, see and cancel them. Others' are not there for them. */
import type { Answer } from "@sluice/client";
import { WILL_NOT_REPEAT } from "@sluice/job-queue";
import {
  type CancelledDeposit,
  type QueuedJobDetail,
  redactJson,
  redactValue,
  type ScheduledDeposit,
  type ScheduledDepositDetail,
} from "@sluice/wire";
import { z } from "zod";
import type { Depositor } from "./depositor.ts";
import { nameOfDepositor, namesOf, type SchedulePage, type Schedules } from "./schedule.ts";

export type Own<T> =
  | { readonly kind: "own"; readonly value: T }
  | { readonly kind: "none" }
  | { readonly kind: "silence"; readonly why: string };

export interface OwnPage {
  readonly items: readonly ScheduledDeposit[];
  readonly next_cursor: string | null;
}

export async function listOwn(schedules: Schedules, depositor: Depositor, page: SchedulePage): Promise<Own<OwnPage>> {
  const answer = await schedules.list(namesOf(depositor), page);
  if (!answer.ok) return silence(answer);
  const { items, next_cursor } = answer.value;
  const seen: ScheduledDeposit[] = [];
  for (let at = 0; at < items.length; at += LOOKS_AT_ONCE) {
    const group = items.slice(at, at + LOOKS_AT_ONCE);
    for (const each of await Promise.all(group.map(({ jobID }) => schedules.describe(jobID)))) {
      if (each.ok) seen.push(listed(each.value));
      // One that has run for the last time meanwhile is no schedule any more.
      else if (noneOr(each).kind !== "none") return silence(each);
    }
  }
  return { kind: "own", value: { items: seen, next_cursor } };
}

/** A list of the queue has no data of its jobs. */
const LOOKS_AT_ONCE = 8;

export async function seeOwn(
  schedules: Schedules,
  depositor: Depositor,
  id: number,
): Promise<Own<ScheduledDepositDetail>> {
  const kept = await schedules.sealedOf(id);
  if (!kept.ok) return noneOr(kept);
  if (!isTheirs(depositor, kept.value)) return { kind: "none" };
  const answer = await schedules.describe(id);
  if (!answer.ok) return noneOr(answer);
  const { sealed } = kept.value.data;
  const { runs } = shownIn(answer.value);
  const last_runs = answer.value.runs.map(({ ended, exit, result }) => ({
    ended,
    exit,
    result: result === null ? null : redactJson(result),
  }));
  const batch = redactValue(sealed.batch) as Readonly<Record<string, unknown>>;
  return { kind: "own", value: { ...listed(answer.value), runs, batch, last_runs } };
}

const GONE: CancelledDeposit = { ended: true, message: "it is cancelled" };
const LAST_RUN: CancelledDeposit = {
  ended: false,
  message: "it runs just now: this run is its last, it will not repeat",
};
/** Of the queue, for a job that ends with its run. */
const AFTER_ITS_RUN = 202;

export async function cancelOwn(
  schedules: Schedules,
  depositor: Depositor,
  id: number,
): Promise<Own<CancelledDeposit>> {
  const kept = await schedules.sealedOf(id);
  if (!kept.ok) return noneOr(kept);
  if (!isTheirs(depositor, kept.value)) return { kind: "none" };
  const answer = await schedules.remove(id);
  if (answer.ok) return { kind: "own", value: answer.status === AFTER_ITS_RUN ? LAST_RUN : GONE };
  return noneOr(answer);
}

type Kept = Extract<Awaited<ReturnType<Schedules["sealedOf"]>>, { readonly ok: true }>["value"];

function isTheirs(depositor: Depositor, { name, data }: Kept): boolean {
  const own = nameOfDepositor(depositor);
  return data.sealed.by.id === depositor.id && (name === own || name.startsWith(`${own}/`));
}

/** Queries of URLs and mail addresses are left out, by the queue and here. */
const Shown = z.object({
  sealed: z.object({
    batch: z.object({
      profile: z.string(),
      payload_url: z.string().optional(),
      objects: z.array(z.unknown()).optional(),
    }),
  }),
  runs: z.int(),
});

const shownIn = ({ data }: QueuedJobDetail): z.infer<typeof Shown> => Shown.parse(redactValue(data));

function listed(job: QueuedJobDetail): ScheduledDeposit {
  const { profile, payload_url, objects = [] } = shownIn(job).sealed.batch;
  const [last] = job.runs;
  const lastResult = last === undefined ? null : inWords(last.result);
  const hasEnded = job.state === "FAILED";
  return {
    id: job.jobID,
    state: job.state,
    created: job.created,
    next_run: hasEnded ? null : job.nextRun,
    last_run: job.lastRun,
    repeat: job.repeat,
    profile,
    submits: payload_url ?? `${objects.length} object${objects.length === 1 ? "" : "s"}`,
    last_exit: last?.exit ?? null,
    last_result: lastResult,
    ends: hasEnded ? (lastResult ?? redactJson(job.step)) : job.step === WILL_NOT_REPEAT ? WILL_NOT_REPEAT : null,
  };
}

const Result = z.object({ why: z.string().optional(), bid: z.string().nullish(), id: z.string().optional() });

/** The fleet's runs leave JSON: what was submitted, or why nothing was. */
function inWords(result: string | null): string | null {
  try {
    const { why, bid, id } = Result.parse(JSON.parse(result ?? ""));
    return result === null ? null : redactJson(why ?? bid ?? id ?? result);
  } catch {
    return result === null ? null : redactJson(result);
  }
}

type Failed = Extract<Answer<unknown>, { readonly ok: false }>;

const noneOr = (answer: Failed): Own<never> =>
  answer.kind === "refused" && answer.refusal.status === 404 ? { kind: "none" } : silence(answer);

const silence = (answer: Failed): Own<never> => ({
  kind: "silence",
  why:
    answer.kind === "unreachable"
      ? "the job queue does not answer"
      : `the job queue does not say: ${answer.refusal.detail}`,
});
