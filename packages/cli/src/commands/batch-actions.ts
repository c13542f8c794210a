/** What is done to batches: one after the other, each with its own answer. */
import { BATCH_ACTION_SAYS, type BatchAction, batchStatesFor, eitherOf } from "@sluice/queue-core";
import { ADMIN, type BatchDetail, type BATCH_REQUESTS } from "@sluice/wire";
import { type Command, toAdmin } from "../command.ts";
import { type Context, refuse, stop } from "../context.ts";
import { EXIT, type ExitCode, worst } from "../exit-codes.ts";
import { confirmed, DRY_RUN, REASON, reasonFor, YES } from "../interact/confirm.ts";
import { plural } from "../output/text.ts";

interface Verb {
  readonly action: (typeof BATCH_REQUESTS)[number];
  readonly says: string;
  readonly grave?: true;
  readonly example: string;
}

/** Where the table allows it, and what it does. */
const means = (verb: string, action: BatchAction): string =>
  `${verb} batches that are ${eitherOf(batchStatesFor(action))}. ${BATCH_ACTION_SAYS[action].replace(/\.$/, "")}`;

const VERBS: readonly Verb[] = [
  { action: "release", says: means("Release", "release"), example: 'batch release bid0000000001 --reason "agreed"' },
  {
    action: "delete",
    says: means("Delete", "delete"),
    grave: true,
    example: 'batch delete bid0000000001 --reason "a test" --yes',
  },
  {
    action: "update-reporting",
    says: means("Report again on", "update-reporting"),
    example: 'batch update-reporting bid0000000001 --reason "resumed jobs are done"',
  },
  {
    action: "clean-up",
    says: "Take batches that are over out of the queue now",
    grave: true,
    example: 'batch clean-up bid0000000001 --reason "before the release" --yes',
  },
];

export const BATCH_ACTION_COMMANDS: readonly Command[] = VERBS.map((verb) => ({
  words: ["batch", verb.action],
  says: verb.says,
  takes: [{ name: "BATCH", many: true, dynamic: "batch" }],
  options: [REASON, DRY_RUN, YES],
  examples: [verb.example],
  permission: ADMIN.batchAction.permission,
  talksTo: toAdmin,
  run: (context) => actOnBatches(context, verb),
}));

async function actOnBatches(context: Context, verb: Verb): Promise<ExitCode> {
  const ids = [...new Set(context.args)];
  if (context.given.has("dry-run")) return await wouldDo(context, verb, ids);
  const reason = await reasonFor(context);
  if (!reason.ok) return reason.code;
  const [only] = ids;
  const named = ids.length === 1 && only !== undefined ? only : plural(ids.length, "batch", "batches");
  if (verb.grave === true || ids.length > 1) {
    const word = ids.length === 1 ? only : String(ids.length);
    const sure = await confirmed(context, `${verb.action} ${named}?`, verb.grave === true ? word : undefined);
    if (!sure.ok) return sure.code;
  }
  const codes: ExitCode[] = [];
  for (const id of ids) {
    const body = { action: verb.action, reason: reason.value, ...(verb.grave === true ? { confirm: true } : {}) };
    const answer = await context.admin.call(ADMIN.batchAction, { params: { id }, body });
    if (answer.ok) context.printer.done(answer.value, id, answer.value.message);
    codes.push(answer.ok ? EXIT.ok : refuse(context, answer));
    if (context.io.interrupted.aborted) return stop(context, EXIT.interrupted, `stopped after ${id}`);
  }
  return worst(codes);
}

async function wouldDo(context: Context, { action }: Verb, ids: readonly string[]): Promise<ExitCode> {
  const codes: ExitCode[] = [];
  for (const id of ids) {
    const answer = await context.admin.call(ADMIN.batch, { params: { id } });
    if (!answer.ok) codes.push(refuse(context, answer));
    else if (!allows(answer.value, action))
      codes.push(
        stop(
          context,
          EXIT.refused,
          `${id} is ${answer.value.status}: it can ${answer.value.actions.join(", ") || "do nothing"}`,
        ),
      );
    else
      context.printer.done(answer.value, id, `would ${action} ${id} (${answer.value.status}, ${answer.value.profile})`);
  }
  return worst(codes);
}

const allows = ({ actions }: BatchDetail, action: string): boolean => actions.includes(action);
