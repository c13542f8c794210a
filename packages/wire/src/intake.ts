/** The depositors' API. Merritt's form and multipart uploads are the intake's own: they are no typed calls. */
import { z } from "zod";
import { batchState, page, pageOf } from "./common.ts";
import { BatchSummary, Job, JobSummary } from "./deposits.ts";
import { endpoint } from "./endpoint.ts";
import { batchId, jobId } from "./ids.ts";
import {
  Accepted,
  BatchRefusals,
  NewBatch,
  CancelledDeposit,
  ScheduledDeposit,
  ScheduledDepositDetail,
  SubmittedBatch,
} from "./submissions.ts";

const moment = (meaning: string) =>
  z
    .union([z.iso.datetime({ offset: true }), z.iso.date()], "expected a time or a day, as in RFC 3339")
    .optional()
    .describe(meaning);

const batchQuery = z
  .strictObject({
    ...page,
    state: batchState.optional(),
    profile: z.string().max(200).optional().describe("of the collection, whole"),
    submitter: z.string().max(200).optional().describe("as submitted, whole"),
    since: moment("submitted then or later"),
    until: moment("submitted before"),
  })
  .refine(({ since, until }) => since === undefined || until === undefined || Date.parse(since) <= Date.parse(until), {
    path: ["until"],
    message: "is before since",
  });

const jobQuery = z.strictObject({
  ...page,
  state: z.enum(["processing", "failed", "completed", "deleted"]).optional().describe("as counted in the batch"),
});

const looking = { method: "get", permission: "see-deposits", status: 200 } as const;

const scheduleId = z.strictObject({ id: z.coerce.number("expected a schedule's number").int().min(1) });

export const INTAKE = {
  submitBatch: endpoint({
    id: "submitBatch",
    method: "post",
    path: "/v1/batches",
    group: "Batches",
    summary: "Submits a batch: one payload, a manifest of payloads, or the objects themselves",
    permission: "submit",
    body: NewBatch,
    answer: Accepted,
    status: 202,
  }),
  listBatches: endpoint({
    ...looking,
    id: "listBatches",
    path: "/v1/batches",
    group: "Batches",
    summary: "The batches in the queue, newest first",
    query: batchQuery,
    answer: pageOf(BatchSummary),
  }),
  getBatch: endpoint({
    ...looking,
    id: "getBatch",
    path: "/v1/batches/{id}",
    group: "Batches",
    summary: "A batch: where it stands, how many of its jobs are done",
    params: batchId,
    answer: SubmittedBatch,
  }),
  batchEvents: endpoint({
    ...looking,
    id: "batchEvents",
    path: "/v1/batches/{id}/events",
    group: "Batches",
    summary: "A batch, again with every change",
    params: batchId,
    answer: SubmittedBatch,
    stream: true,
  }),
  listJobs: endpoint({
    ...looking,
    id: "listJobs",
    path: "/v1/batches/{id}/jobs",
    group: "Batches",
    summary: "The jobs of a batch, in the order of its manifest",
    params: batchId,
    query: jobQuery,
    answer: pageOf(JobSummary),
  }),
  listRefusals: endpoint({
    ...looking,
    id: "listRefusals",
    path: "/v1/batches/{id}/refusals",
    group: "Batches",
    summary: "Why a submission that was accepted can never become a batch",
    params: batchId,
    answer: BatchRefusals,
  }),
  listSchedules: endpoint({
    id: "listSchedules",
    method: "get",
    path: "/v1/schedules",
    group: "Schedules",
    summary: "Your own deposits for later",
    permission: "see-deposits",
    query: z.strictObject(page),
    answer: pageOf(ScheduledDeposit),
    status: 200,
  }),
  getSchedule: endpoint({
    id: "getSchedule",
    method: "get",
    path: "/v1/schedules/{id}",
    group: "Schedules",
    summary: "One of your deposits for later: what it submits, and how its last runs ended",
    permission: "see-deposits",
    params: scheduleId,
    answer: ScheduledDepositDetail,
    status: 200,
  }),
  cancelSchedule: endpoint({
    id: "cancelSchedule",
    method: "delete",
    path: "/v1/schedules/{id}",
    group: "Schedules",
    summary: "Cancels one of your deposits for later; one that runs just now ends with that run",
    permission: "submit",
    params: scheduleId,
    answer: CancelledDeposit,
    status: 200,
  }),
  runSchedule: endpoint({
    id: "runSchedule",
    method: "post",
    path: "/v1/schedules/{id}/runs",
    group: "Schedules",
    summary: "Submits what a deposit for later holds, in its maker's name: for the fleet's runner",
    permission: "run-schedules",
    params: scheduleId,
    body: z.strictObject({ run: z.int().min(1).describe("1 for the first; the same number submits once") }),
    answer: Accepted,
    status: 202,
  }),
  getJob: endpoint({
    ...looking,
    id: "getJob",
    path: "/v1/jobs/{id}",
    group: "Jobs",
    summary: "A job: its state, its history, how far the work is",
    params: jobId,
    answer: Job,
  }),
  jobEvents: endpoint({
    ...looking,
    id: "jobEvents",
    path: "/v1/jobs/{id}/events",
    group: "Jobs",
    summary: "A job, again with every change",
    params: jobId,
    answer: Job,
    stream: true,
  }),
} as const;
