/** A depositor's own deposits for later: they list, see and cancel them. Others' are not there for them. */
import type { Answer } from "@sluice/client";
import { type QueuedJob, redactValue, type ScheduledDeposit, type ScheduledDepositDetail } from "@sluice/wire";
import type { Depositor } from "./depositor.ts";
import { nameOfDepositor, namesOf, type SchedulePage, type Schedules } from "./schedule.ts";

export type Own<T> =
  | { readonly kind: "own"; readonly value: T }
  | { readonly kind: "none" }
  | { readonly kind: "running" }
  | { readonly kind: "silence"; readonly why: string };

export interface OwnPage {
  readonly items: readonly ScheduledDeposit[];
  readonly next_cursor: string | null;
}

export async function listOwn(schedules: Schedules, depositor: Depositor, page: SchedulePage): Promise<Own<OwnPage>> {
  const answer = await schedules.list(namesOf(depositor), page);
  if (!answer.ok) return silence(answer);
  const { items, next_cursor } = answer.value;
  return { kind: "own", value: { items: items.map(listed), next_cursor } };
}

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
  const { sealed, runs } = kept.value.data;
  const last_runs = answer.value.runs.map(({ ended, exit, result }) => ({ ended, exit, result }));
  const batch = redactValue(sealed.batch) as Readonly<Record<string, unknown>>;
  return { kind: "own", value: { ...listed(answer.value), runs, batch, last_runs } };
}

export async function cancelOwn(schedules: Schedules, depositor: Depositor, id: number): Promise<Own<null>> {
  const kept = await schedules.sealedOf(id);
  if (!kept.ok) return noneOr(kept);
  if (!isTheirs(depositor, kept.value)) return { kind: "none" };
  const answer = await schedules.remove(id);
  if (answer.ok) return { kind: "own", value: null };
  return answer.kind === "refused" && [405, 409].includes(answer.refusal.status) ? { kind: "running" } : noneOr(answer);
}

type Kept = Extract<Awaited<ReturnType<Schedules["sealedOf"]>>, { readonly ok: true }>["value"];

function isTheirs(depositor: Depositor, { name, data }: Kept): boolean {
  const own = nameOfDepositor(depositor);
  return data.sealed.by.id === depositor.id && (name === own || name.startsWith(`${own}/`));
}

const listed = (job: Pick<QueuedJob, "jobID" | "state" | "created" | "nextRun" | "lastRun" | "repeat">) => ({
  id: job.jobID,
  state: job.state,
  created: job.created,
  next_run: job.nextRun,
  last_run: job.lastRun,
  repeat: job.repeat,
});

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
