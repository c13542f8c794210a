/** What is done to jobs of the general queue. */
import type { Answer } from "@sluice/client";
import { JOBS } from "@sluice/wire";
import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { type Command, type Option, toJobs } from "../command.ts";
import { type Context, refuse, stop } from "../context.ts";
import { EXIT, type ExitCode, worst } from "../exit-codes.ts";
import { parseMoment } from "../given.ts";
import { confirmed, DRY_RUN, REASON, reasonFor, YES } from "../interact/confirm.ts";
import { ID, jobIdOf, TENANT, tenantOf } from "./queued-jobs.ts";

export const REPEAT: Option = { name: "repeat", value: "SCHEDULE", says: 'such as "FINISHED, +1 DAY" or DAILY' };
export const NEXT_RUN: Option = {
  name: "next-run",
  value: "TIME",
  kind: "time",
  says: "not before: a time, or a span like 2h",
};
const PRIORITY: Option = {
  name: "job-priority",
  value: "N",
  choices: ["0", "500", "1000"],
  says: "the highest is first; 500 if not given",
};
const DATA: Option = { name: "data", value: "JSON", says: "an object; @FILE reads it from a file, - from stdin" };
const RENAME: Option = { name: "as", value: "NAME", says: "under this name from now on" };

const using = { permission: JOBS.createJob.permission, talksTo: toJobs } as const;

/** As the commands take it. */
export function momentOf({ given, io }: Context, option: string): string | undefined {
  const text = given.text(option);
  const moment = text === undefined ? null : parseMoment(text, io.nowMs());
  return moment?.slice(0, 19).replace("T", " ");
}

async function dataOf({ given, io }: Context): Promise<string | undefined> {
  const text = given.text("data");
  if (text === "-") return await io.readStdin();
  return text?.startsWith("@") === true ? await readFile(resolve(io.cwd, text.slice(1)), "utf8") : text;
}

interface Why {
  readonly reason: string;
}

interface Verb {
  readonly verb: string;
  readonly says: string;
  /** It cannot be undone, or takes work out of somebody's hands. */
  readonly grave?: true;
  readonly options?: readonly Option[];
  readonly examples: readonly [string, ...string[]];
  readonly send: (context: Context, jobID: number, query: Why) => Promise<Answer<object>>;
}

const to = (context: Context) => ({ params: { tenant: tenantOf(context) } });

const VERBS: readonly Verb[] = [
  {
    verb: "cancel",
    says: "Cancel jobs that do not run yet",
    grave: true,
    examples: ['q cancel 1 --reason "no longer needed" --yes'],
    send: (context, jobID, query) => context.jobs.call(JOBS.cancelJob, { ...to(context), query, body: { jobID } }),
  },
  {
    verb: "delete",
    says: "Delete jobs that nobody runs",
    grave: true,
    examples: ['q delete 1 2 3 --reason "made by mistake" --yes'],
    send: (context, jobID, query) => context.jobs.call(JOBS.deleteJob, { ...to(context), query, body: { jobID } }),
  },
  {
    verb: "fail",
    says: "Fail jobs that run: whoever has them has no say any more",
    grave: true,
    examples: ['q fail 1 --reason "it never ends" --yes'],
    send: (context, jobID, query) => context.jobs.call(JOBS.failJob, { ...to(context), query, body: { jobID } }),
  },
  {
    verb: "retry",
    says: "Take jobs that run from whoever has them, to be run again",
    options: [{ name: "delay", value: "SPAN", kind: "seconds", says: "not before 90s, 15m, 2h from now" }],
    examples: ['q retry 1 --delay 5m --reason "its service was down"'],
    send: (context, jobID, query) => {
      const delay = context.given.seconds("delay");
      const body = { jobID, ...(delay === undefined ? {} : { delay }) };
      return context.jobs.call(JOBS.retryJob, { ...to(context), query, body });
    },
  },
  {
    verb: "requeue",
    says: "Queue jobs again whatever their state, as after FAILED",
    options: [RENAME],
    examples: [
      'q requeue 1 2 --reason "the cause is fixed"',
      'q requeue 1 --as mail-again --reason "for another worker"',
    ],
    send: (context, jobID, query) => {
      const name = context.given.text("as");
      const body = { jobIDs: [jobID], ...(name === undefined ? {} : { name }) };
      return context.jobs.call(JOBS.requeueJobs, { ...to(context), query, body });
    },
  },
];

export const QUEUED_JOB_ACTION_COMMANDS: readonly Command[] = [
  {
    ...using,
    words: ["q", "create"],
    says: "Create a job",
    takes: [{ name: "NAME" }],
    options: [
      TENANT,
      DATA,
      PRIORITY,
      REPEAT,
      { name: "first-run", value: "TIME", kind: "time", says: "not before: a time, or a span like 2h" },
      { name: "retry-after", value: "SPAN", says: "offered again when it has not ended then, such as +5 MINUTES" },
      { name: "unique", says: "the job of this name that is there already, if there is one" },
      { name: "parent", value: "ID", kind: "number", says: "a child of this job" },
      { name: "on-finish", value: "NAME", says: "a job of this name is made with the result" },
      REASON,
      DRY_RUN,
    ],
    examples: [
      `q create mail --data "{}" --reason "asked for by Ada"`,
      'q create report --repeat "FINISHED, +1 DAY, START OF DAY, +4 HOURS" --reason "wanted each morning"',
    ],
    run: create,
  },
  {
    ...using,
    words: ["q", "update"],
    says: "Change a job's data, priority or next run",
    takes: [ID],
    options: [TENANT, DATA, PRIORITY, NEXT_RUN, REASON, DRY_RUN],
    examples: [
      'q update 1 --job-priority 1000 --reason "it is urgent"',
      'q update 1 --data "{}" --next-run 2h --reason "wrong data"',
    ],
    run: update,
  },
  ...VERBS.map((verb): Command => ({
    ...using,
    words: ["q", verb.verb],
    says: verb.says,
    takes: [{ ...ID, many: true }],
    options: [TENANT, ...(verb.options ?? []), REASON, DRY_RUN, YES],
    examples: verb.examples,
    run: (context) => actOnAll(context, verb),
  })),
];

async function create(context: Context): Promise<ExitCode> {
  const { args, given, printer } = context;
  const [name = ""] = args;
  const wishes = {
    data: await dataOf(context),
    jobPriority: given.number("job-priority"),
    repeat: given.text("repeat"),
    firstRun: momentOf(context, "first-run"),
    retryAfter: given.text("retry-after"),
    unique: given.has("unique") ? true : undefined,
    parentJobID: given.number("parent"),
    onFinish: given.text("on-finish"),
  };
  const body = { name, ...Object.fromEntries(Object.entries(wishes).filter(([, value]) => value !== undefined)) };
  if (given.has("dry-run")) {
    printer.done(body, name, `would create ${name} for ${tenantOf(context)}`);
    return EXIT.ok;
  }
  const reason = await reasonFor(context);
  if (!reason.ok) return reason.code;
  const query = { reason: reason.value };
  const answer = await context.jobs.call(JOBS.createJob, { ...to(context), query, body });
  if (!answer.ok) return refuse(context, answer);
  const { jobID } = answer.value;
  printer.done(answer.value, String(jobID), `job ${jobID} is created`);
  return EXIT.ok;
}

async function update(context: Context): Promise<ExitCode> {
  const jobID = jobIdOf(context, context.args[0] ?? "");
  if (jobID === null) return EXIT.usage;
  const jobPriority = context.given.number("job-priority");
  const nextRun = momentOf(context, "next-run");
  const data = await dataOf(context);
  if (data === undefined && jobPriority === undefined && nextRun === undefined)
    return stop(context, EXIT.usage, "what is to be changed?", "add --data, --job-priority or --next-run");
  const changes = {
    ...(jobPriority === undefined ? {} : { jobPriority }),
    ...(nextRun === undefined ? {} : { nextRun }),
  };
  return await change(context, jobID, data, changes);
}

/** Data that are not given stay as they are. */
export async function change(
  context: Context,
  jobID: number,
  data: string | undefined,
  changes: Readonly<Record<string, unknown>>,
): Promise<ExitCode> {
  const { given, jobs, printer } = context;
  const present = await jobs.call(JOBS.queryJob, { ...to(context), body: { jobID } });
  if (!present.ok) return refuse(context, present);
  const body = { jobID, ...(data === undefined ? {} : { data }), ...changes };
  if (given.has("dry-run")) {
    printer.done(body, String(jobID), `would change job ${jobID} (${present.value.name}): ${JSON.stringify(changes)}`);
    return EXIT.ok;
  }
  const reason = await reasonFor(context);
  if (!reason.ok) return reason.code;
  const query = { reason: reason.value };
  const answer = await jobs.call(JOBS.updateJob, { ...to(context), query, body });
  if (!answer.ok) return refuse(context, answer);
  printer.done(answer.value, String(jobID), `job ${jobID} (${present.value.name}) is changed`);
  return EXIT.ok;
}

async function actOnAll(context: Context, verb: Verb): Promise<ExitCode> {
  const { args, given, io, printer } = context;
  const ids = [...new Set(args)].map((word) => jobIdOf(context, word));
  if (ids.includes(null)) return EXIT.usage;
  const named = ids.join(" ");
  if (given.has("dry-run")) {
    printer.done({ action: verb.verb, jobIDs: ids }, named, `would ${verb.verb} ${named} of ${tenantOf(context)}`);
    return EXIT.ok;
  }
  const reason = await reasonFor(context);
  if (!reason.ok) return reason.code;
  if (verb.grave === true) {
    const sure = await confirmed(context, `${verb.verb} ${named}?`, ids.length === 1 ? named : String(ids.length));
    if (!sure.ok) return sure.code;
  }
  const codes: ExitCode[] = [];
  for (const id of ids) {
    if (id === null) continue;
    const answer = await verb.send(context, id, { reason: reason.value });
    if (answer.ok) printer.done(answer.value, String(id), `${verb.verb}: job ${id}, done`);
    codes.push(answer.ok ? EXIT.ok : refuse(context, answer));
    if (io.interrupted.aborted) return stop(context, EXIT.interrupted, `stopped after ${id}`);
  }
  return worst(codes);
}
