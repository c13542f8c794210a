/** Jobs that repeat. */
import { JOBS, type QueuedJob } from "@sluice/wire";
import { type Command, toJobs } from "../command.ts";
import { type Context, refuse, stop } from "../context.ts";
import { EXIT, type ExitCode } from "../exit-codes.ts";
import { confirmed, DRY_RUN, REASON, YES } from "../interact/confirm.ts";
import { LIST_OPTIONS, readPages } from "../pages.ts";
import { moreNote } from "./batches.ts";
import { change, momentOf, NEXT_RUN, REPEAT } from "./queued-job-actions.ts";
import { ID, jobIdOf, TENANT, tenantOf } from "./queued-jobs.ts";

/** Of a schedule that is paused: its job waits for a time that does not come, and a step from there stays in the calendar. */
const NEVER = "9000-01-01 00:00:00";
const isPaused = ({ nextRun }: Pick<QueuedJob, "nextRun">): boolean => (nextRun ?? "") >= "9000";

const using = { permission: JOBS.updateJob.permission, talksTo: toJobs } as const;

export const SCHEDULE_COMMANDS: readonly Command[] = [
  {
    words: ["schedule", "list"],
    says: "Jobs that repeat, and when they run next",
    options: [TENANT, ...LIST_OPTIONS],
    examples: ["schedule list", "schedule list --tenant system"],
    permission: JOBS.listJobs.permission,
    talksTo: toJobs,
    async run(context) {
      const { given, jobs, printer } = context;
      const answer = await readPages<QueuedJob>(given, (page) =>
        jobs.call(JOBS.listJobs, {
          params: { tenant: tenantOf(context) },
          query: { ...page, repeating: "true" },
        }),
      );
      if (!answer.ok) return refuse(context, answer);
      const { items, next_cursor: cursor } = answer.value;
      printer.list<QueuedJob>({
        raw: answer.value,
        items,
        columns: [
          { title: "ID", of: ({ jobID }) => String(jobID), right: true },
          { title: "STATE", of: (job) => (isPaused(job) ? "paused" : job.state), state: true },
          { title: "NAME", of: ({ name }) => name, flexible: true },
          { title: "NEXT RUN", of: (job) => (isPaused(job) ? "never" : (job.nextRun ?? "")) },
          { title: "LAST RUN", of: ({ lastRun }, { time }) => time(lastRun) },
          { title: "REPEAT", of: ({ repeat }) => repeat, flexible: true },
        ],
        nameOf: ({ jobID }) => String(jobID),
        none: "Nothing repeats.",
      });
      return moreNote(context, cursor);
    },
  },
  {
    ...using,
    words: ["schedule", "set"],
    says: "Give a job a schedule, or another one (a new job with one: sluice q create NAME --repeat SCHEDULE)",
    takes: [ID],
    options: [TENANT, REPEAT, NEXT_RUN, REASON, DRY_RUN],
    examples: ['schedule set 1 --repeat "FINISHED, +1 DAY, START OF DAY, +4 HOURS" --reason "earlier"'],
    async run(context) {
      const repeat = context.given.text("repeat");
      if (repeat === undefined) return stop(context, EXIT.usage, "which schedule?", "add --repeat SCHEDULE");
      const nextRun = momentOf(context, "next-run");
      return await changeSchedule(context, { repeat, ...(nextRun === undefined ? {} : { nextRun }) });
    },
  },
  {
    ...using,
    words: ["schedule", "pause"],
    says: "Let a job that repeats wait until it is resumed; it must not be running",
    takes: [ID],
    options: [TENANT, REASON, DRY_RUN],
    examples: ['schedule pause 1 --reason "maintenance"'],
    async run(context) {
      const jobID = jobIdOf(context, context.args[0] ?? "");
      if (jobID === null) return EXIT.usage;
      const present = await context.jobs.call(JOBS.queryJob, {
        params: { tenant: tenantOf(context) },
        body: { jobID },
      });
      if (!present.ok) return refuse(context, present);
      const { state, repeat } = present.value;
      if (repeat === "") return stop(context, EXIT.refused, `job ${jobID} does not repeat`);
      if (state !== "QUEUED")
        return stop(
          context,
          EXIT.refused,
          `job ${jobID} is ${state}: its end would set its next run`,
          "try again then",
        );
      return await change(context, jobID, undefined, { nextRun: NEVER });
    },
  },
  {
    ...using,
    words: ["schedule", "resume"],
    says: "Let a paused one go on: now, or at --next-run",
    takes: [ID],
    options: [TENANT, NEXT_RUN, REASON, DRY_RUN],
    examples: ['schedule resume 1 --next-run 2h --reason "maintenance is over"'],
    async run(context) {
      const now = new Date(context.io.nowMs()).toISOString().slice(0, 19).replace("T", " ");
      return await changeSchedule(context, { nextRun: momentOf(context, "next-run") ?? now });
    },
  },
  {
    ...using,
    words: ["schedule", "end"],
    says: "Take a job's schedule away: its next run is its last",
    takes: [ID],
    options: [TENANT, REASON, DRY_RUN, YES],
    examples: ['schedule end 1 --reason "no longer needed" --yes'],
    async run(context) {
      const [id = ""] = context.args;
      if (!context.given.has("dry-run")) {
        const sure = await confirmed(context, `take the schedule of ${id} away?`);
        if (!sure.ok) return sure.code;
      }
      return await changeSchedule(context, { shouldClearRepeat: true });
    },
  },
];

async function changeSchedule(context: Context, changes: Readonly<Record<string, unknown>>): Promise<ExitCode> {
  const jobID = jobIdOf(context, context.args[0] ?? "");
  return jobID === null ? EXIT.usage : await change(context, jobID, undefined, changes);
}
