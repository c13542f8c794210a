/** One's own deposits for later. */
import { INTAKE, type ScheduledDeposit } from "@sluice/wire";
import { type Command, toIntake } from "../command.ts";
import { refuse } from "../context.ts";
import { EXIT } from "../exit-codes.ts";
import { confirmed, YES } from "../interact/confirm.ts";
import { safeLines } from "../output/text.ts";
import { LIST_OPTIONS, readPages } from "../pages.ts";
import { moreNote } from "./batches.ts";
import { jobIdOf } from "./queued-jobs.ts";

const ID = { name: "ID" } as const;
const own = { permission: INTAKE.listSchedules.permission, talksTo: toIntake } as const;

export const DEPOSIT_SCHEDULE_COMMANDS: readonly Command[] = [
  {
    ...own,
    words: ["deposits", "list"],
    says: "Your own deposits for later, and when they run next",
    options: LIST_OPTIONS,
    examples: ["deposits list"],
    async run(context) {
      const { given, intake, printer } = context;
      const answer = await readPages<ScheduledDeposit>(given, (page) =>
        intake.call(INTAKE.listSchedules, { query: page }),
      );
      if (!answer.ok) return refuse(context, answer);
      const { items, next_cursor: cursor } = answer.value;
      printer.list<ScheduledDeposit>({
        raw: answer.value,
        items,
        columns: [
          { title: "ID", of: ({ id }) => String(id), right: true },
          { title: "STATE", of: ({ state }) => state, state: true },
          { title: "NEXT RUN", of: ({ next_run }, { time }) => time(next_run) },
          { title: "LAST RUN", of: ({ last_run }, { time }) => time(last_run) },
          { title: "EXIT", of: ({ last_exit }) => (last_exit === null ? "-" : String(last_exit)), right: true },
          { title: "PROFILE", of: ({ profile }) => profile },
          { title: "SUBMITS", of: ({ submits }) => submits, flexible: true },
          { title: "ENDS", of: ({ ends }) => ends ?? "-", wide: true },
          { title: "REPEAT", of: ({ repeat }) => repeat, wide: true },
          { title: "LAST RESULT", of: ({ last_result }) => last_result ?? "-", wide: true },
        ],
        nameOf: ({ id }) => String(id),
        none: "You have no deposits for later.",
      });
      return moreNote(context, cursor);
    },
  },
  {
    ...own,
    words: ["deposits", "show"],
    says: "One of your deposits for later: what it submits, and how its last runs ended",
    takes: [ID],
    examples: ["deposits show 1"],
    async run(context) {
      const id = jobIdOf(context, context.args[0] ?? "");
      if (id === null) return EXIT.usage;
      const answer = await context.intake.call(INTAKE.getSchedule, { params: { id } });
      if (!answer.ok) return refuse(context, answer);
      context.printer.show(answer.value, String(id), () =>
        safeLines(JSON.stringify(answer.value, null, 2)).split("\n"),
      );
      return EXIT.ok;
    },
  },
  {
    ...own,
    permission: INTAKE.cancelSchedule.permission,
    words: ["deposits", "cancel"],
    says: "Cancel one of your deposits for later; one that runs just now ends with that run",
    takes: [ID],
    options: [YES],
    examples: ["deposits cancel 1 --yes"],
    async run(context) {
      const id = jobIdOf(context, context.args[0] ?? "");
      if (id === null) return EXIT.usage;
      const sure = await confirmed(context, `cancel the deposit ${id}?`);
      if (!sure.ok) return sure.code;
      const answer = await context.intake.call(INTAKE.cancelSchedule, { params: { id } });
      if (!answer.ok) return refuse(context, answer);
      context.printer.done({ id, ...answer.value }, String(id), `${id}: ${answer.value.message}`);
      return EXIT.ok;
    },
  },
];
