/** What is done to jobs: to one at once, to many as an operation whose progress is shown. */
import { eitherOf, JOB_ACTION_SAYS, type JobAction, jobStatesFor, PIPELINE } from "@sluice/queue-core";
import { ADMIN, type BulkPreview, type BulkRequest, type JOB_REQUESTS } from "@sluice/wire";
import { randomUUID } from "node:crypto";
import { type Command, type Option, toAdmin } from "../command.ts";
import { type Context, refuse, stop } from "../context.ts";
import { EXIT, type ExitCode } from "../exit-codes.ts";
import { confirmed, DRY_RUN, REASON, reasonFor, YES } from "../interact/confirm.ts";
import { plural } from "../output/text.ts";
import { NO_WAIT, watchOperation } from "../watch-operation.ts";
import { JOB } from "./jobs.ts";
import { type Chosen, chooseJobs, FILTER_OPTIONS } from "./job-filter.ts";

type Action = (typeof JOB_REQUESTS)[number];

interface Verb {
  readonly action: Action;
  readonly says: string;
  /** It cannot be undone, or its depositor is not told: asked for in so many words. */
  readonly grave?: JobAction;
  readonly options?: readonly Option[];
  readonly examples: readonly [string, ...string[]];
}

/** Where the table allows it, and what it does. */
const means = (verb: string, action: JobAction): string =>
  `${verb} jobs that are ${eitherOf(jobStatesFor(action))}. ${JOB_ACTION_SAYS[action].replace(/\.$/, "")}`;

const VERBS: readonly Verb[] = [
  {
    action: "hold",
    says: means("Hold", "hold"),
    examples: ['job hold jid0000000001 --reason "waiting for the owner"'],
  },
  {
    action: "release",
    says: means("Release", "release"),
    examples: ['job release --state Held --profile sluice_demo_content --reason "agreed" --yes'],
  },
  {
    action: "resume",
    says: means("Resume", "resume"),
    options: [
      {
        name: "at",
        value: "STATE",
        choices: PIPELINE,
        says: "resume at this state; by default after the last one that succeeded, never later than that",
      },
    ],
    examples: [
      'job resume --state Failed --profile sluice_demo_content --reason "the disk is back" --yes',
      'job resume jid0000000001 --at Downloading --reason "mended at its source"',
    ],
  },
  {
    action: "fail",
    says: means("Fail", "fail"),
    grave: "fail",
    examples: ['job fail jid0000000001 --reason "it never ends" --yes'],
  },
  {
    action: "delete",
    says: means("Delete", "delete"),
    grave: "delete",
    examples: ['job delete --state Failed --batch bid0000000001 --reason "sent anew" --dry-run'],
  },
  {
    action: "priority",
    says: "Change the priority of jobs: 00 is first, 99 last",
    options: [{ name: "to", value: "N", kind: "number", says: "the new priority, 0 to 99" }],
    examples: ['job priority jid0000000001 --to 2 --reason "exhibition on Friday"'],
  },
];

const EXPECT: Option = {
  name: "expect",
  value: "N",
  kind: "number",
  says: "do nothing unless it is exactly so many jobs",
};

export const JOB_ACTION_COMMANDS: readonly Command[] = VERBS.map((verb) => ({
  words: ["job", verb.action],
  says: verb.says,
  takes: [{ ...JOB, many: true, optional: true }],
  options: [...(verb.options ?? []), ...FILTER_OPTIONS, REASON, EXPECT, DRY_RUN, YES, NO_WAIT],
  examples: verb.examples,
  permission: ADMIN.jobAction.permission,
  talksTo: toAdmin,
  run: (context) => actOnJobs(context, verb),
}));

const isPriority = (n: number): boolean => Number.isInteger(n) && n >= 0 && n <= 99;

type Order = Pick<BulkRequest, "action" | "reason" | "at" | "priority" | "confirm">;

async function actOnJobs(context: Context, verb: Verb): Promise<ExitCode> {
  const priority = context.given.number("to");
  if (verb.action === "priority" && (priority === undefined || !isPriority(priority))) {
    const what = priority === undefined ? "no priority is given" : `${priority} is no priority`;
    return stop(context, EXIT.usage, what, "add --to N, from 0 (first) to 99 (last)");
  }
  const chosen = await chooseJobs(context);
  if (!chosen.ok) return chosen.code;
  const dryRun = context.given.has("dry-run");
  const reason = dryRun ? { ok: true as const, value: "dry run" } : await reasonFor(context);
  if (!reason.ok) return reason.code;
  const at = PIPELINE.find((state) => state === context.given.text("at"));
  const order: Order = {
    action: verb.action,
    reason: reason.value,
    ...(at === undefined ? {} : { at }),
    ...(priority === undefined ? {} : { priority }),
  };
  const { single } = chosen.value;
  return single !== null && !dryRun
    ? await actOnOne(context, verb, single, order)
    : await actOnMany(context, verb, chosen.value, order);
}

async function actOnOne(context: Context, verb: Verb, id: string, order: Order): Promise<ExitCode> {
  if (verb.grave !== undefined) {
    const sure = await confirmed(context, `${verb.action} ${id}? ${JOB_ACTION_SAYS[verb.grave]}`, id);
    if (!sure.ok) return sure.code;
  }
  const body = verb.grave !== undefined ? { ...order, confirm: true } : order;
  const answer = await context.admin.call(ADMIN.jobAction, { params: { id }, body });
  if (!answer.ok) return refuse(context, answer);
  context.printer.done(answer.value, id, answer.value.message);
  return EXIT.ok;
}

async function actOnMany(context: Context, verb: Verb, { filter }: Chosen, order: Order): Promise<ExitCode> {
  const { admin, given, printer } = context;
  const preview = await admin.call(ADMIN.bulkPreview, { body: { ...order, filter, dry_run: true } });
  if (!preview.ok) return refuse(context, preview);
  const { count, not_allowed: not } = preview.value;
  const lines = previewLines(preview.value, verb.action);
  if (given.has("dry-run")) printer.show(preview.value, String(count), () => lines);
  else printer.note(lines.join("\n"));
  const expected = given.number("expect");
  if (expected !== undefined && expected !== count)
    return stop(context, EXIT.refused, `${plural(count, "job")} found, ${expected} expected: nothing was done`);
  if (count === 0 && filter.ids !== undefined) return stop(context, EXIT.notFound, "none of them can be found");
  if (count > 0 && not === count) return stop(context, EXIT.refused, `the state of none of them allows ${verb.action}`);
  if (given.has("dry-run") || count === 0) return EXIT.ok;
  const grave = verb.grave !== undefined;
  const sure = await confirmed(
    context,
    `${verb.action} ${plural(count - not, "job")}?`,
    grave ? String(count - not) : undefined,
  );
  if (!sure.ok) return sure.code;
  const answer = await admin.call(ADMIN.bulkAction, {
    body: {
      ...order,
      filter,
      ...(grave ? { confirm: true } : {}),
      // Jobs come and go meanwhile; where it cannot be undone, it must be those that were agreed to.
      ...(grave || expected !== undefined ? { expected_count: count } : {}),
    },
    idempotencyKey: randomUUID(),
  });
  if (!answer.ok) return refuse(context, answer);
  return await watchOperation(context, answer.value);
}

const breakdown = (counts: Readonly<Record<string, number>>): string =>
  Object.entries(counts)
    .sort(([, a], [, b]) => b - a)
    .map(([name, count]) => `${name} ${count.toLocaleString("en")}`)
    .join(", ");

export function previewLines(preview: BulkPreview, action: string): readonly string[] {
  const { count, by_state: states, by_profile: profiles, not_allowed: not, examples } = preview;
  return [
    `${action}: ${plural(count, "job")}`,
    ...(count === 0 ? [] : [`  by state:   ${breakdown(states)}`, `  by profile: ${breakdown(profiles)}`]),
    ...(not === 0 ? [] : [`  ${plural(not, "job")} of them in a state that does not allow it`]),
    ...examples
      .slice(0, 3)
      .map(({ id, status, message }) => `  e.g. ${id} ${status}${message === "" ? "" : `: ${message}`}`),
  ];
}
