/** The general job queue: what is in it, what has ended, and whose it is. */
import {
  JOBS,
  type JobRun,
  QUEUED_JOB_STATES,
  type QueuedJob,
  type QueuedJobDetail,
  type QueueTenant,
} from "@sluice/wire";
import { type Command, type Option, toJobs } from "../command.ts";
import { type Context, refuse, stop } from "../context.ts";
import { EXIT } from "../exit-codes.ts";
import type { Column } from "../output/table.ts";
import type { Printer } from "../output/printer.ts";
import { safeLines, showBytes } from "../output/text.ts";
import { LIST_OPTIONS, readPages } from "../pages.ts";
import { moreNote } from "./batches.ts";

export const TENANT: Option = { name: "tenant", value: "TENANT", says: "whose jobs; default if not given" };
export const tenantOf = ({ given }: Pick<Context, "given">): string => given.text("tenant") ?? "default";

export const ID = { name: "ID" } as const;
const NAME: Option = {
  name: "name",
  value: "PATTERN",
  many: true,
  says: "of these names; * ? and [...] stand for more than one",
};
const STATE: Option = {
  name: "job-state",
  value: "STATE",
  many: true,
  choices: QUEUED_JOB_STATES,
  says: "in one of these states",
};

const looking = { permission: JOBS.listJobs.permission, talksTo: toJobs } as const;

const JOB_COLUMNS: readonly Column<QueuedJob>[] = [
  { title: "ID", of: ({ jobID }) => String(jobID), right: true },
  { title: "STATE", of: ({ state }) => state, state: true },
  { title: "NAME", of: ({ name }) => name, flexible: true },
  { title: "PRI", of: ({ priority }) => String(priority), right: true },
  { title: "NEXT RUN", of: ({ nextRun }) => nextRun ?? "" },
  { title: "REPEAT", of: ({ repeat }) => repeat, wide: true },
  { title: "LAST RUN", of: ({ lastRun }, { time }) => time(lastRun), wide: true },
  { title: "CREATED", of: ({ created }, { time }) => time(created), wide: true },
];

const RUN_COLUMNS: readonly Column<JobRun>[] = [
  { title: "ID", of: ({ jobID }) => String(jobID), right: true },
  { title: "ENDED", of: ({ ended }, { time }) => time(ended) },
  { title: "NAME", of: ({ name }) => name, flexible: true },
  { title: "EXIT", of: ({ exit }) => (exit === null ? "" : String(exit)), right: true },
  { title: "CODE", of: ({ code }) => code },
  { title: "OWNER", of: ({ owner }) => owner, flexible: true },
  {
    title: "RESULT",
    of: ({ result, result_bytes: bytes }) => result ?? (bytes === null ? "" : showBytes(bytes)),
    flexible: true,
  },
  { title: "STARTED", of: ({ started }, { time }) => time(started), wide: true },
];

/** Lists are sent as one word. */
export const listOf = (words: readonly string[]): string | undefined =>
  words.length === 0 ? undefined : words.join(",");

/** Null, and told, for what is no number of a job. */
export function jobIdOf(context: Context, word: string): number | null {
  if (/^[1-9]\d{0,15}$/.test(word)) return Number(word);
  stop(context, EXIT.usage, `${word} is no number of a job`, "sluice q list");
  return null;
}

export const QUEUED_JOB_COMMANDS: readonly Command[] = [
  {
    ...looking,
    words: ["q", "list"],
    says: "Jobs of the general queue, oldest first",
    options: [TENANT, STATE, NAME, ...LIST_OPTIONS],
    examples: ["q list --job-state FAILED", 'q list --tenant acme --name "mail-*" -o wide'],
    async run(context) {
      const { given, jobs, printer } = context;
      const filter = { state: listOf(given.texts("job-state")), name: listOf(given.texts("name")) };
      const answer = await readPages<QueuedJob>(given, (page) =>
        jobs.call(JOBS.listJobs, { params: { tenant: tenantOf(context) }, query: { ...page, ...filter } }),
      );
      if (!answer.ok) return refuse(context, answer);
      const { items, next_cursor: cursor } = answer.value;
      const shape = { columns: JOB_COLUMNS, nameOf: ({ jobID }: QueuedJob) => String(jobID), none: "No such jobs." };
      printer.list({ raw: answer.value, items, ...shape });
      return moreNote(context, cursor);
    },
  },
  {
    ...looking,
    words: ["q", "show"],
    says: "Everything about one job, also when it has ended",
    takes: [ID],
    options: [TENANT],
    examples: ["q show 1"],
    async run(context) {
      const id = jobIdOf(context, context.args[0] ?? "");
      if (id === null) return EXIT.usage;
      const answer = await context.jobs.call(JOBS.describeJob, { params: { tenant: tenantOf(context), id } });
      if (!answer.ok) return refuse(context, answer);
      context.printer.show(answer.value, String(id), (printer) => jobLines(answer.value, printer));
      return EXIT.ok;
    },
  },
  {
    ...looking,
    words: ["q", "result"],
    says: "The result of a job's last run, as it is",
    takes: [ID],
    options: [TENANT],
    examples: ["q result 1"],
    async run(context) {
      const id = jobIdOf(context, context.args[0] ?? "");
      if (id === null) return EXIT.usage;
      const answer = await context.jobs.call(JOBS.jobResult, { params: { tenant: tenantOf(context), id } });
      if (!answer.ok) return refuse(context, answer);
      context.printer.show(answer.value, String(id), () => [safeLines(answer.value.result ?? "")]);
      return EXIT.ok;
    },
  },
  {
    ...looking,
    words: ["q", "runs"],
    says: "Runs that have ended, newest first",
    options: [TENANT, NAME, ...LIST_OPTIONS],
    examples: ["q runs --limit 10"],
    async run(context) {
      const { given, jobs, printer } = context;
      const name = listOf(given.texts("name"));
      const answer = await readPages<JobRun>(given, (page) =>
        jobs.call(JOBS.listRuns, { params: { tenant: tenantOf(context) }, query: { ...page, name } }),
      );
      if (!answer.ok) return refuse(context, answer);
      const { items, next_cursor: cursor } = answer.value;
      const shape = { columns: RUN_COLUMNS, nameOf: ({ jobID }: JobRun) => String(jobID), none: "No runs." };
      printer.list({ raw: answer.value, items, ...shape });
      return moreNote(context, cursor);
    },
  },
  {
    ...looking,
    words: ["q", "types"],
    says: "The types of a tenant's jobs, and how many can run now",
    options: [TENANT],
    examples: ["q types"],
    async run(context) {
      const answer = await context.jobs.call(JOBS.listTypes, { params: { tenant: tenantOf(context) } });
      if (!answer.ok) return refuse(context, answer);
      const columns = countColumns<(typeof answer.value.items)[number]>("TYPE", ({ name }) => name);
      context.printer.list({
        raw: answer.value,
        items: answer.value.items,
        columns,
        nameOf: ({ name }) => name,
        none: "No jobs.",
      });
      return EXIT.ok;
    },
  },
  {
    ...looking,
    words: ["tenant", "list"],
    says: "The tenants of the general queue that have jobs",
    examples: ["tenant list"],
    async run(context) {
      const answer = await context.jobs.call(JOBS.listTenants, {});
      if (!answer.ok) return refuse(context, answer);
      const columns = [...countColumns<QueueTenant>("TENANT", ({ tenant }) => tenant), WORKER_TIME];
      context.printer.list({
        raw: answer.value,
        items: answer.value.items,
        nameOf: ({ tenant }: QueueTenant) => tenant,
        columns,
        none: "Nobody has jobs.",
      });
      return EXIT.ok;
    },
  },
];

const WORKER_TIME: Column<QueueTenant> = {
  title: "WORKER-TIME",
  of: ({ worker_seconds: seconds }) => (seconds === null ? "" : `${seconds.toFixed(1)}s`),
  right: true,
};

type Counted = Pick<QueueTenant, "counts" | "ready" | "oldest_due">;

function countColumns<T extends Counted>(title: string, of: (item: T) => string): readonly Column<T>[] {
  const sum = ({ counts }: T, ...states: readonly (keyof T["counts"] & (typeof QUEUED_JOB_STATES)[number])[]): string =>
    String(states.reduce((total, state) => total + (counts[state] ?? 0), 0));
  return [
    { title, of },
    { title: "READY", of: ({ ready }) => String(ready), right: true },
    { title: "QUEUED", of: (item) => sum(item, "QUEUED"), right: true },
    { title: "RUNNING", of: (item) => sum(item, "RUNNING", "RUNQUEUED"), right: true },
    { title: "PAUSED", of: (item) => sum(item, "PAUSED"), right: true },
    { title: "FAILED", of: (item) => sum(item, "FAILED"), right: true },
    { title: "OLDEST", of: ({ oldest_due: due }, { time }) => time(due) },
  ];
}

function jobLines(job: QueuedJobDetail, printer: Printer): readonly string[] {
  const fields = printer.fields([
    ["Job", String(job.jobID)],
    ["Tenant", job.tenant],
    ["Name", job.name],
    ["State", job.state],
    ["Owner", job.owner],
    ["Step", job.step],
    ["Priority", String(job.priority)],
    ["Created", printer.time(job.created)],
    ["Last run", printer.time(job.lastRun)],
    ["Next run", job.nextRun],
    ["Repeat", job.repeat],
    ["Retry after", job.retryAfter],
    ["Parent", job.parentJobID === null ? null : String(job.parentJobID)],
    ["Re-offered", job.reoffers === 0 ? null : String(job.reoffers)],
    ["On finish", job.onFinish],
    ["Max run time", job.maxRunTime === null ? null : `${job.maxRunTime} ms`],
    ["Exit", job.exit === null ? null : String(job.exit)],
    ["Code", job.code],
    ["Result", job.result_bytes === null ? null : `${showBytes(job.result_bytes)} (sluice q result ${job.jobID})`],
    ["Data", job.data_text ?? JSON.stringify(job.data)],
    ["Unreadable", job.unreadable?.problem ?? null],
    ["Record", job.unreadable === null ? null : JSON.stringify(job.unreadable.bytes)],
  ]);
  const events = printer.table(job.events, [
    { title: "AT", of: ({ at }, { time }) => time(at) },
    { title: "WHAT", of: ({ what }) => what },
    { title: "BY", of: ({ by }) => by, flexible: true },
  ]);
  const runs = job.runs.length === 0 ? [] : ["", ...printer.table(job.runs, RUN_COLUMNS)];
  return [...fields, ...(job.events.length === 0 ? [] : ["", ...events]), ...runs];
}
