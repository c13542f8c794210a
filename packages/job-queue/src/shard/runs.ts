/** Ended runs as answers show them, and what they tell of a job that is gone. */
import type { EndedRun } from "../run-archive.ts";
import type { JobRecord, RunView } from "./views.ts";
import { shownData } from "./data.ts";

export function runView({ id, token, done }: EndedRun): RunView {
  return {
    jobID: id,
    tenant: done.tenant,
    name: done.name,
    lease: token,
    worker: done.worker ?? "",
    outcome: done.outcome ?? "finished",
    exit: done.exit ?? null,
    result: done.result ?? null,
    resultRef: done.resultRef ?? null,
    created: done.created,
    started: done.started ?? null,
    ended: done.ended,
  };
}

/** Of the last run of a job whose record is gone. */
export function recordOfRun({ id, done }: EndedRun): JobRecord {
  const job = done.job ?? { priority: 0, ev: [] };
  return {
    jobID: id,
    tenant: done.tenant,
    name: done.name,
    state: done.outcome === "failed" ? "FAILED" : "FINISHED",
    owner: done.worker ?? "",
    step: job.step ?? "",
    events: job.ev,
    data: shownData({ data: job.data ?? "{}", mock: job.mock, retryAfterCount: undefined }),
    dataRef: job.dataRef ?? null,
    priority: job.priority,
    repeat: job.repeat ?? "",
    retryAfter: job.retryAfter ?? "",
    parent: job.parent ?? null,
    children: [],
    unique: false,
    mock: job.mock === true,
    created: done.created,
    lastRun: done.started ?? null,
    nextRun: null,
    reoffers: 0,
    retryAfterCount: 0,
    maxRunTime: job.maxRunTime ?? null,
    onFinish: job.onFinish ?? null,
    exit: null,
    result: null,
    resultRef: null,
    unreadable: null,
    runs: [],
  };
}
