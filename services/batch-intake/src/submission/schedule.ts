/** A submission for later, or for again and again: checked now as if it came now, then kept as a job of the fleet's own. */
import { inScope } from "@sluice/access";
import type { Answer } from "@sluice/client";
import { type DepositData, FLEET_TYPES } from "@sluice/fleet-jobs";
import { formatTimestamp } from "@sluice/queue-core";
import type { NewBatch, NewJob } from "@sluice/wire";
import { createHash, randomUUID } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import type { Acceptance, AcceptPorts } from "./accept.ts";
import { checkSubmission } from "./check-submission.ts";
import type { Depositor } from "./depositor.ts";
import type { FieldProblem } from "./field-problem.ts";
import { batchOfObjects } from "./inline-objects.ts";
import { JSON_NAMES, requestOfJson } from "./json-request.ts";
import type { SubmissionRequest } from "./request.ts";

/** The fleet's own tenant in the job queue. */
export interface Schedules {
  readonly create: (job: NewJob) => Promise<Answer<{ readonly jobID: number }>>;
  readonly dataOf: (id: number) => Promise<Answer<Readonly<Record<string, unknown>>>>;
}

export interface SchedulePorts extends Pick<AcceptPorts, "profileOf" | "clock"> {
  /** null: there is no job queue. */
  readonly schedules: Schedules | null;
}

export interface ScheduleRequest {
  readonly body: NewBatch;
  readonly depositor: Depositor;
  readonly key: string | null;
}

export type ScheduleRefusal = Extract<
  Acceptance,
  { readonly kind: "not-theirs" | "wrong-fields" | "key-reused" | "unavailable" }
>;
export type Scheduled =
  { readonly kind: "scheduled"; readonly job: number; readonly replayed: boolean } | ScheduleRefusal;

const NO_QUEUE = "deposits for later need the job queue: JOB_API_URL and JOB_API_TOKEN of the intake say where it is";

export async function schedule(ports: SchedulePorts, asked: ScheduleRequest): Promise<Scheduled> {
  const refusal = check(ports, asked);
  if (refusal !== null) return refusal;
  if (ports.schedules === null) return { kind: "unavailable", why: NO_QUEUE };
  const data = dataOf(asked);
  const answer = await ports.schedules.create(jobOf(asked, data));
  if (!answer.ok) return refusalOf(answer);
  const job = answer.value.jobID;
  if (asked.key === null) return { kind: "scheduled", job, replayed: false };
  return await replayOf(ports.schedules, job, data);
}

interface Marked extends DepositData {
  /** Of the request that made it: whoever finds another one there came second. */
  readonly request: string;
}

function dataOf({ body, depositor, key }: ScheduleRequest): Marked {
  const { firstRun: _when, repeat: _again, ...batch } = body;
  return {
    batch: { ...batch, submitter: body.submitter ?? depositor.name },
    runs: 0,
    scheduled_by: depositor.signature ?? depositor.name,
    request: randomUUID(),
    ...(key === null ? {} : { key: nameOfKey(depositor, key) }),
  };
}

/** A key is its caller's own, and may hold anything. */
const nameOfKey = ({ id }: Depositor, key: string): string =>
  createHash("sha256")
    .update(JSON.stringify([id, key]))
    .digest("hex")
    .slice(0, 32);

function jobOf({ body: { firstRun, repeat } }: ScheduleRequest, data: Marked): NewJob {
  return {
    name: data.key === undefined ? FLEET_TYPES.deposit : `${FLEET_TYPES.deposit}/${data.key}`,
    data: { ...data },
    ...(firstRun === undefined ? {} : { firstRun: queueTime(firstRun) }),
    ...(repeat === undefined ? {} : { repeat }),
    ...(data.key === undefined ? {} : { unique: true, overwrite: false }),
  };
}

/** RFC 3339 as the queue writes times; whatever else it is, the queue judges it. */
const queueTime = (text: string): string =>
  /^\d{4}-\d\d-\d\dT.*(Z|[+-]\d\d:\d\d)$/.test(text) && !Number.isNaN(Date.parse(text))
    ? new Date(text).toISOString().slice(0, 19).replace("T", " ")
    : text;

/** The same key found a job that was there: it is the same request, or another one under a used key. */
async function replayOf(schedules: Schedules, job: number, ours: Marked): Promise<Scheduled> {
  const there = await schedules.dataOf(job);
  if (!there.ok) return refusalOf(there);
  if (there.value["request"] === ours.request) return { kind: "scheduled", job, replayed: false };
  const isSame = isDeepStrictEqual(there.value["batch"], JSON.parse(JSON.stringify(ours.batch)));
  return isSame ? { kind: "scheduled", job, replayed: true } : { kind: "key-reused", uuid: `job-${job}` };
}

function refusalOf(answer: Extract<Answer<unknown>, { readonly ok: false }>): ScheduleRefusal {
  if (answer.kind === "unreachable") return { kind: "unavailable", why: "the job queue does not answer" };
  const { status, detail } = answer.refusal;
  if (status !== 400) return { kind: "unavailable", why: `the job queue does not take it: ${detail}` };
  return { kind: "wrong-fields", problems: [{ field: fieldIn(detail), detail }] };
}

const fieldIn = (detail: string): string => (detail.includes("firstRun") ? "firstRun" : "repeat");

function check(ports: SchedulePorts, { body, depositor }: ScheduleRequest): ScheduleRefusal | null {
  if (!inScope(depositor.scope, body.profile)) return { kind: "not-theirs", profile: body.profile };
  const request = requestIn(body);
  if ("problems" in request) return { kind: "wrong-fields", problems: request.problems };
  const checked = checkSubmission(request, {
    names: JSON_NAMES,
    depositor,
    profileOf: ports.profileOf,
    submittedAt: formatTimestamp(ports.clock.nowMs()),
  });
  return checked.ok ? null : { kind: "wrong-fields", problems: checked.problems };
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
