import { ADMIN } from "@sluice/wire";
import { type Command, toAdmin } from "../command.ts";
import { refuse } from "../context.ts";
import { EXIT } from "../exit-codes.ts";
import { REASON, reasonFor } from "../interact/confirm.ts";
import { codeOf, operationLines, watchOperation } from "../watch-operation.ts";
import { OPERATION_COLUMNS } from "./columns.ts";

const OPERATION = { name: "OPERATION", dynamic: "operation" } as const;
const common = { permission: ADMIN.operations.permission, talksTo: toAdmin } as const;

export const OPERATION_COMMANDS: readonly Command[] = [
  {
    ...common,
    words: ["operation", "list"],
    says: "Bulk actions under way and over",
    examples: ["operation list"],
    async run(context) {
      const answer = await context.admin.call(ADMIN.operations, {});
      if (!answer.ok) return refuse(context, answer);
      const { items } = answer.value;
      const shape = { columns: OPERATION_COLUMNS, nameOf: ({ id }: { id: string }) => id, none: "No operations." };
      context.printer.list({ raw: answer.value, items, ...shape });
      return EXIT.ok;
    },
  },
  {
    ...common,
    words: ["operation", "show"],
    says: "How far a bulk action is",
    takes: [OPERATION],
    examples: ["operation show OPERATION"],
    async run(context) {
      const answer = await context.admin.call(ADMIN.operation, { params: { id: context.args[0] ?? "" } });
      if (!answer.ok) return refuse(context, answer);
      context.printer.show(answer.value, answer.value.id, () => operationLines(answer.value));
      return codeOf(answer.value);
    },
  },
  {
    ...common,
    words: ["operation", "watch"],
    says: "A bulk action until it is done",
    takes: [OPERATION],
    examples: ["operation watch OPERATION"],
    async run(context) {
      const answer = await context.admin.call(ADMIN.operation, { params: { id: context.args[0] ?? "" } });
      return answer.ok ? await watchOperation(context, answer.value) : refuse(context, answer);
    },
  },
  {
    ...common,
    words: ["operation", "stop"],
    says: "Stop a bulk action: what is done stays done",
    takes: [OPERATION],
    options: [REASON],
    examples: ['operation stop OPERATION --reason "the wrong collection"'],
    async run(context) {
      const reason = await reasonFor(context);
      if (!reason.ok) return reason.code;
      const answer = await context.admin.call(ADMIN.stopOperation, {
        params: { id: context.args[0] ?? "" },
        query: { reason: reason.value },
      });
      if (!answer.ok) return refuse(context, answer);
      context.printer.show(answer.value, answer.value.id, () => operationLines(answer.value));
      return EXIT.ok;
    },
  },
];
