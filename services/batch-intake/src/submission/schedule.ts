/** A submission for later, or for again and again: checked now as if it came now, then kept as a job of the fleet's own. */
import { canBeLookedUp, inScope } from "@sluice/access";
import type { Answer } from "@sluice/client";
import { FLEET_TYPES } from "@sluice/fleet-jobs";
import { formatTimestamp } from "@sluice/queue-core";
import type { NewBatch, NewJob, QueuedJob, QueuedJobDetail } from "@sluice/wire";
import { createHash, randomUUID } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import type { Acceptance, AcceptPorts } from "./accept.ts";
import { checkSubmission } from "./check-submission.ts";
import { ANONYMOUS, type Depositor } from "./depositor.ts";
import type { FieldProblem } from "./field-problem.ts";
import { batchOfObjects } from "./inline-objects.ts";
import { JSON_NAMES, requestOfJson } from "./json-request.ts";
import type { SubmissionRequest } from "./request.ts";
import { queueTime, timeProblems } from "./schedule-interval.ts";
import { type KeptSchedule, SCHEDULE_BYTES_MAX, type Sealed } from "./sealed.ts";

/** The fleet's own tenant in the job queue. */
export interface Schedules {
  readonly create: (job: NewJob) => Promise<Answer<{ readonly jobID: number }>>;
  /** As it was made, for us alone. */
  readonly sealedOf: (id: number) => Promise<Answer<KeptSchedule>>;
  /** As everybody sees it who may. */
  readonly describe: (id: number) => Promise<Answer<QueuedJobDetail>>;
  readonly list: (names: readonly string[], page: SchedulePage) => Promise<Answer<ListedSchedules>>;
  /** One that runs just now ends with that run, and is answered with 202. */
  readonly remove: (id: number) => Promise<Answer<unknown>>;
}

export interface SchedulePage {
  readonly limit?: number | undefined;
  readonly cursor?: string | undefined;
}

interface ListedSchedules {
  readonly items: readonly QueuedJob[];
  readonly next_cursor: string | null;
}

export interface ScheduleLimits {
  readonly perDepositor: number;
  readonly leastIntervalMs: number;
}

export interface SchedulePorts extends Pick<AcceptPorts, "profileOf" | "clock"> {
  /** null: there is no job queue. */
  readonly schedules: Schedules | null;
  readonly scheduleLimits: ScheduleLimits;
}

export interface ScheduleRequest {
  readonly body: NewBatch;
  readonly depositor: Depositor;
  readonly key: string | null;
}

export type ScheduleRefusal =
  | Extract<Acceptance, { readonly kind: "not-theirs" | "wrong-fields" | "key-reused" | "unavailable" }>
  /** Nobody could be asked at a run whether they still may. */
  | { readonly kind: "needs-token" }
  | { readonly kind: "too-many-schedules"; readonly most: number };
export type Scheduled =
  { readonly kind: "scheduled"; readonly job: number; readonly replayed: boolean } | ScheduleRefusal;

export const NO_QUEUE =
  "deposits for later need the job queue: JOB_API_URL and JOB_API_TOKEN of the intake say where it is";

export async function schedule(ports: SchedulePorts, asked: ScheduleRequest): Promise<Scheduled> {
  const refusal = check(ports, asked);
  if (refusal !== null) return refusal;
  if (ports.schedules === null) return { kind: "unavailable", why: NO_QUEUE };
  const data = dataOf(asked, ports.scheduleLimits);
  const full = await roomProblem(ports.schedules, ports.scheduleLimits, asked.depositor, data.sealed.key);
  if (full !== null) return full;
  const answer = await ports.schedules.create(jobOf(asked, data));
  if (!answer.ok) return refusalOf(answer);
  const job = answer.value.jobID;
  if (asked.key === null) return { kind: "scheduled", job, replayed: false };
  return await replayOf(ports.schedules, job, data);
}

interface Marked {
  readonly sealed: Sealed;
  /** Runs that have ended. */
  readonly runs: number;
}

function dataOf({ body, depositor, key }: ScheduleRequest, { leastIntervalMs }: ScheduleLimits): Marked {
  const { firstRun: _when, repeat: _again, ...batch } = body;
  const sealed = {
    batch: { ...batch, submitter: body.submitter ?? depositor.name },
    by: { id: depositor.id, name: depositor.name },
    request: randomUUID(),
    leastIntervalMs,
    ...(key === null ? {} : { key: nameOfKey(depositor, key) }),
  };
  return { sealed, runs: 0 };
}

/** All schedules of a depositor begin with it, and only theirs. */
export const nameOfDepositor = ({ id }: Pick<Depositor, "id">): string =>
  `${FLEET_TYPES.deposit}/${createHash("sha256").update(id).digest("hex").slice(0, 32)}`;

export const namesOf = (depositor: Pick<Depositor, "id">): readonly string[] => {
  const name = nameOfDepositor(depositor);
  return [name, `${name}/*`];
};

async function roomProblem(
  schedules: Schedules,
  { perDepositor }: ScheduleLimits,
  depositor: Depositor,
  key: string | undefined,
): Promise<ScheduleRefusal | null> {
  const own = await schedules.list(namesOf(depositor), { limit: perDepositor });
  if (!own.ok) return refusalOf(own);
  const { items } = own.value;
  const isThere = key !== undefined && items.some(({ name }) => name === `${nameOfDepositor(depositor)}/${key}`);
  return items.length < perDepositor || isThere ? null : { kind: "too-many-schedules", most: perDepositor };
}

/** A key is its caller's own, and may hold anything. */
const nameOfKey = ({ id }: Depositor, key: string): string =>
  createHash("sha256")
    .update(JSON.stringify([id, key]))
    .digest("hex")
    .slice(0, 32);

function jobOf({ body: { firstRun, repeat }, depositor }: ScheduleRequest, { sealed, runs }: Marked): NewJob {
  const name = nameOfDepositor(depositor);
  return {
    name: sealed.key === undefined ? name : `${name}/${sealed.key}`,
    data: { sealed, runs },
    ...(firstRun === undefined ? {} : { firstRun: queueTime(firstRun) }),
    ...(repeat === undefined ? {} : { repeat }),
    ...(sealed.key === undefined ? {} : { unique: true, overwrite: false }),
  };
}

/** The same key found a job that was there: it is the same request, or another one under a used key. */
async function replayOf(schedules: Schedules, job: number, ours: Marked): Promise<Scheduled> {
  const there = await schedules.sealedOf(job);
  if (!there.ok) return refusalOf(there);
  const { sealed } = there.value.data;
  if (sealed.request === ours.sealed.request) return { kind: "scheduled", job, replayed: false };
  const isSame = isDeepStrictEqual(sealed.batch, JSON.parse(JSON.stringify(ours.sealed.batch)));
  return isSame ? { kind: "scheduled", job, replayed: true } : { kind: "key-reused", uuid: `job-${job}` };
}

export function refusalOf(answer: Extract<Answer<unknown>, { readonly ok: false }>): ScheduleRefusal {
  if (answer.kind === "unreachable") return { kind: "unavailable", why: "the job queue does not answer" };
  const { status, detail } = answer.refusal;
  if (status !== 400) return { kind: "unavailable", why: `the job queue does not take it: ${detail}` };
  return { kind: "wrong-fields", problems: [{ field: fieldIn(detail), detail }] };
}

const fieldIn = (detail: string): string => (detail.includes("firstRun") ? "firstRun" : "repeat");

function check(ports: SchedulePorts, asked: ScheduleRequest): ScheduleRefusal | null {
  const { body, depositor } = asked;
  if (depositor.id !== ANONYMOUS && !canBeLookedUp(depositor.id)) return { kind: "needs-token" };
  if (!inScope(depositor.scope, body.profile)) return { kind: "not-theirs", profile: body.profile };
  const request = requestIn(body);
  if ("problems" in request) return { kind: "wrong-fields", problems: request.problems };
  const checked = checkSubmission(request, {
    names: JSON_NAMES,
    depositor,
    profileOf: ports.profileOf,
    submittedAt: formatTimestamp(ports.clock.nowMs()),
  });
  const problems = checked.ok ? boundProblems(ports, asked) : checked.problems;
  return problems.length === 0 ? null : { kind: "wrong-fields", problems };
}

function boundProblems({ scheduleLimits, clock }: SchedulePorts, asked: ScheduleRequest): readonly FieldProblem[] {
  const times = timeProblems(asked.body, scheduleLimits.leastIntervalMs, clock.nowMs());
  const isLarge = Buffer.byteLength(JSON.stringify(dataOf(asked, scheduleLimits))) > SCHEDULE_BYTES_MAX;
  const large = `more than ${SCHEDULE_BYTES_MAX} bytes are too many for a schedule: put the objects into a manifest`;
  return [...times, ...(isLarge ? [{ field: "objects", detail: large }] : [])];
}

/** Objects become a manifest, at every run anew. */
function requestIn(body: NewBatch): SubmissionRequest | { readonly problems: readonly FieldProblem[] } {
  if (body.objects === undefined) return requestOfJson(body);
  const batch = batchOfObjects(body.objects, body.type);
  if (!batch.ok) return { problems: batch.problems };
  const { kind, manifest } = batch.value;
  const file = { name: "objects.checkm", size: Buffer.byteLength(manifest), head: manifest.slice(0, 1_000) };
  return { ...requestOfJson(body), payload: { kind: "upload", files: [file] }, type: kind };
}
