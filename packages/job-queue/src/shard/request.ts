/**
 * Commands as they come in: a verb and named texts, as the headers of the document's requests are; other doors bring
 * theirs into the same form. What can be refused without looking at any job is refused here.
 */
import { parseJobId } from "../ids.ts";
import { itemsOf } from "../json-text.ts";
import {
  DATA_BYTES,
  JOBS_PER_COMMAND,
  LEASE_MS_LEAST,
  LEASE_MS_MOST,
  NAME_BYTES,
  NAMES_BYTES,
  REQUEST_DEPTH,
  RESULT_BYTES,
  RETRY_DELAY_DIGITS,
  STEP_BYTES,
} from "../limits.ts";
import { parseNames } from "../names.ts";
import { isNestedDeeper } from "../nesting.ts";
import { parseJson } from "../records.ts";
import { parseTime } from "../time/timestamp.ts";
import type { Caller, Command, NewJob, RunEnd } from "./commands.ts";
import { isObject, type GivenData, readData } from "./data.ts";
import { readNewJob } from "./new-job.ts";
import { given, integer, isStatus, named, Params, priorityOf, sized } from "./params.ts";
import { scheduleOf } from "./schedule.ts";
import { type Status, STATUS } from "./statuses.ts";

/** Who asks. */
export interface Asker {
  readonly tenant: string;
  readonly caller: Caller;
}

type Reading<T> = T | Status;

/** Verbs of the document, in any case; what follows the first space is for HTTP. */
export function readCommand(line: string, fields: Readonly<Record<string, string>>, asker: Asker): Reading<Command> {
  const params = new Params(fields);
  const read = READERS.get((line.split(" ")[0] ?? "").toLowerCase());
  return read === undefined ? STATUS.unknownVerb : read(params, asker);
}

type Reader = (params: Params, asker: Asker) => Reading<Command>;

/** A map: what every object has, such as "constructor", is no verb. */
const READERS: ReadonlyMap<string, Reader> = new Map(
  Object.entries<Reader>({
    createjob: readCreateJob,
    createjobs: readCreateJobs,
    getjob: (params, asker) => readGetJobs(params, asker, true),
    getjobs: (params, asker) => readGetJobs(params, asker, false),
    describejob: (params, { tenant }) => withId(params, (id) => ({ verb: "DescribeJob", tenant, id })),
    queryjob: (params, { tenant }) => withId(params, (id) => ({ verb: "QueryJob", tenant, id })),
    canceljob: (params, { tenant }) => withId(params, (id) => ({ verb: "CancelJob", tenant, id })),
    deletejob: (params, { tenant }) => readDeleteJob(params, tenant),
    updatejob: readUpdateJob,
    finishjob: readFinishJob,
    retryjob: readRetryJob,
    failjob: readFailJob,
    requeuejobs: readRequeueJobs,
    crashbedrockjob: (params, { tenant }) => {
      const names = sized(params, given(params, "names") === null ? "name" : "names", 1, NAMES_BYTES);
      if (isStatus(names)) return names;
      return { verb: "CrashJobs", tenant, names: names.split(",").map((each) => each.trim()) };
    },
    clearcrashedbedrockjobs: (_, { tenant }) => ({ verb: "ClearCrashed", tenant }),
    status: (_, { tenant }) => ({ verb: "ListCrashed", tenant }),
  }),
);

function readCreateJob(params: Params, { tenant }: Asker): Reading<Command> {
  const job = readNewJob(params);
  return isStatus(job) ? job : { verb: "CreateJobs", tenant, jobs: [job], single: true };
}

function readCreateJobs(params: Params, { tenant }: Asker): Reading<Command> {
  const jobs = readJobs(params, "jobs");
  return isStatus(jobs) ? jobs : { verb: "CreateJobs", tenant, jobs, single: false };
}

function readJobs(params: Params, field: string): Reading<readonly NewJob[]> {
  const text = params.text(field) ?? "";
  if (isNestedDeeper(text, REQUEST_DEPTH)) return STATUS.tooDeep;
  const list = parseJson(text);
  if (!Array.isArray(list) || list.length === 0 || !list.every(isObject)) return STATUS.invalidJson;
  if (list.length > JOBS_PER_COMMAND) return STATUS.malformed(field);
  const jobs = [];
  for (const each of itemsOf(text)) {
    const job = readNewJob(Params.ofJson(each, params.text("mockRequest")));
    if (isStatus(job)) return job;
    jobs.push(job);
  }
  return jobs;
}

function readGetJobs(params: Params, { tenant, caller }: Asker, single: boolean): Reading<Command> {
  const name = sized(params, "name", 1, NAMES_BYTES);
  if (isStatus(name)) return name;
  const number = params.text("numResults");
  if (single && number !== null) return STATUS.numResultsWithGetJob;
  // The document: "atomically dequeues exactly one job".
  const limit = single || number === null ? 1 : integer(params, "numResults");
  if (isStatus(limit)) return limit;
  const priority = priorityOf(params, ["jobPriority"]);
  if (isStatus(priority)) return priority;
  const leaseMs = given(params, "leaseMs") === null ? null : integer(params, "leaseMs");
  if (isStatus(leaseMs)) return leaseMs;
  if (leaseMs !== null && (leaseMs < LEASE_MS_LEAST || leaseMs > LEASE_MS_MOST)) return STATUS.malformed("leaseMs");
  const mocked = params.flag("mockRequest") || params.flag("getMockedJobs");
  return {
    verb: "GetJobs",
    wanted: { tenant, names: parseNames(name), priority, mocked },
    limit: Math.min(Math.max(1, limit), JOBS_PER_COMMAND),
    single,
    caller,
    leaseMs,
  };
}

function withId(params: Params, make: (id: number) => Command): Reading<Command> {
  const id = jobId(params);
  return isStatus(id) ? id : make(id);
}

function readDeleteJob(params: Params, tenant: string): Reading<Command> {
  const after = params.flag("afterRun") ? { afterRun: true as const } : {};
  return withId(params, (id) => ({ verb: "DeleteJob", tenant, id, ...after }));
}

function jobId(params: Params): Reading<number> {
  const raw = params.text("jobID");
  if (raw === null || raw === "") return STATUS.missing("jobID");
  // A number that is none of our ids is still a number: there is no such job.
  if (/^(0|-?[1-9]\d*)$/.test(raw)) return parseJobId(raw) ?? 0;
  return STATUS.malformed("jobID");
}

interface Holder {
  readonly id: number;
  readonly lease: string | null;
  readonly data: GivenData | null;
}

function withHolder(params: Params, make: (holder: Holder) => Reading<Command>): Reading<Command> {
  const id = jobId(params);
  if (isStatus(id)) return id;
  const text = params.text("data");
  const data = text === null || text === "" ? null : dataOf(text);
  return isStatus(data) ? data : make({ id, lease: given(params, "lease"), data });
}

function dataOf(text: string): Reading<GivenData> {
  if (Buffer.byteLength(text) > DATA_BYTES) return STATUS.malformed("data");
  return readData(text);
}

const CHANGES = ["repeat", "shouldClearRepeat", "nextRun", "jobPriority", "step"] as const;

function readUpdateJob(params: Params, { tenant }: Asker): Reading<Command> {
  const id = jobId(params);
  if (isStatus(id)) return id;
  // Who changes something else need not send the data back, which would undo what somebody changed meanwhile.
  const isElse = CHANGES.some((name) => given(params, name) !== null);
  const text = isElse && given(params, "data") === null ? null : sized(params, "data", 1, DATA_BYTES);
  if (isStatus(text)) return text;
  const data = text === null ? null : dataOf(text);
  if (isStatus(data)) return data;
  const repeat = scheduleOf(params, "repeat");
  if (isStatus(repeat)) return repeat;
  const nextRun = timeOf(params, "nextRun");
  if (isStatus(nextRun)) return nextRun;
  const priority = priorityOf(params, ["jobPriority"]);
  if (isStatus(priority)) return priority;
  const step = params.text("step") === null ? null : sized(params, "step", 0, STEP_BYTES);
  if (isStatus(step)) return step;
  const clearRepeat = params.flag("shouldClearRepeat");
  return {
    verb: "UpdateJob",
    tenant,
    id,
    data,
    lease: given(params, "lease"),
    repeat,
    clearRepeat,
    nextRun,
    priority,
    step,
  };
}

function readFinishJob(params: Params, { tenant, caller }: Asker): Reading<Command> {
  const onFinish = given(params, "onFinish") === null ? null : named(params, "onFinish", NAME_BYTES);
  if (isStatus(onFinish)) return onFinish;
  const follower = onFinish === null ? {} : { onFinish };
  return withEnd(params, (end) => ({ verb: "FinishJob", tenant, ...nameOf(caller), ...end, ...follower }));
}

function readFailJob(params: Params, { tenant, caller }: Asker): Reading<Command> {
  return withEnd(params, (end) => ({ verb: "FailJob", tenant, ...nameOf(caller), ...end }));
}

/** The name of a connection is not its caller's: the next command may come over another connection. */
const nameOf = ({ kind, worker, isNamed }: Caller): { readonly worker?: string } =>
  worker !== "" && (kind === "worker" || isNamed === true) ? { worker } : {};

function withEnd(params: Params, make: (end: Holder & RunEnd) => Reading<Command>): Reading<Command> {
  return withHolder(params, (holder) => {
    const exit = given(params, "exitCode") === null ? null : integer(params, "exitCode");
    if (isStatus(exit)) return exit;
    const result = params.text("result") === null ? null : sized(params, "result", 0, RESULT_BYTES);
    if (isStatus(result)) return result;
    if (given(params, "then") === null) return make({ ...holder, exit, result });
    const then = readJobs(params, "then");
    return isStatus(then) ? then : make({ ...holder, exit, result, then });
  });
}

function readRetryJob(params: Params, { tenant, caller }: Asker): Reading<Command> {
  return withEnd(params, (end) => {
    const delay = delayOf(given(params, "delay") ?? "0");
    if (isStatus(delay)) return delay;
    const nextRun = timeOf(params, "nextRun");
    if (isStatus(nextRun)) return nextRun;
    const priority = priorityOf(params, ["jobPriority"]);
    if (isStatus(priority)) return priority;
    const name = given(params, "name") === null ? null : named(params, "name", NAME_BYTES);
    if (isStatus(name)) return name;
    return {
      verb: "RetryJob",
      tenant,
      ...nameOf(caller),
      ...end,
      nextRun,
      delay,
      name,
      priority,
      ignoreRepeat: params.flag("ignoreRepeat"),
    };
  });
}

function delayOf(raw: string): Reading<number> {
  if (/^-\d+$/.test(raw) && Number(raw) < 0) return STATUS.negativeDelay;
  return /^\d+$/.test(raw) && raw.length <= RETRY_DELAY_DIGITS ? Number(raw) : STATUS.malformed("delay");
}

function timeOf(params: Params, name: string): Reading<number | null> {
  const raw = given(params, name);
  return raw === null ? null : (parseTime(raw) ?? STATUS.malformed(name));
}

function readRequeueJobs(params: Params, { tenant }: Asker): Reading<Command> {
  const parts = (params.text("jobIDs") ?? "").replaceAll(/[[\]\s]/g, "").split(",");
  const ids = parts.flatMap((part) => parseJobId(part) ?? []);
  if (ids.length > JOBS_PER_COMMAND) return STATUS.malformed("jobIDs");
  const name = given(params, "name") === null ? null : named(params, "name", NAME_BYTES);
  if (isStatus(name)) return name;
  return { verb: "RequeueJobs", tenant, ids, name, decrementFailures: params.flag("decrementFailures"), leases: null };
}
