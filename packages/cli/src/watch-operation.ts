/** A bulk action as it goes on in the admin service: whoever started it may leave. */
import { ADMIN, type OperationView } from "@sluice/wire";
import type { Option } from "./command.ts";
import { type Context, refuse } from "./context.ts";
import { EXIT, type ExitCode } from "./exit-codes.ts";
import { makeProgress } from "./interact/progress.ts";
import { plural, safe } from "./output/text.ts";

export const NO_WAIT: Option = { name: "no-wait", says: "do not wait until it is done" };

const refusedOf = ({ refused }: OperationView): number => refused.reduce((sum, { count }) => sum + count, 0);

export async function watchOperation(context: Context, started: OperationView): Promise<ExitCode> {
  const { io, admin, printer, given } = context;
  const { id } = started;
  if (given.has("no-wait")) {
    printer.done(started, id, `operation ${id} is under way: sluice operation watch ${id}`);
    return EXIT.ok;
  }
  const ended = new AbortController();
  const signal = AbortSignal.any([io.interrupted, ended.signal]);
  const progress = makeProgress(io);
  let last = started;
  try {
    for await (const event of admin.events(ADMIN.operationEvents, { params: { id }, signal })) {
      if (!event.ok) {
        if (signal.aborted) break;
        if (event.kind === "refused") return refuse(context, event);
        printer.note(`no answer (${event.why}); the operation goes on`);
        continue;
      }
      last = event.value;
      const refused = refusedOf(last);
      const note = refused === 0 ? last.state : `${last.state}, ${refused} refused`;
      progress.update([{ label: last.action, done: last.applied + refused, total: last.total, unit: "count", note }]);
      if (last.state !== "running") break;
    }
  } finally {
    ended.abort();
    progress.end();
  }
  if (last.state === "running") {
    printer.note(
      `operation ${id} goes on. To see it: sluice operation watch ${id}; to stop it: sluice operation stop ${id} --reason TEXT`,
    );
    return io.interrupted.aborted ? EXIT.interrupted : EXIT.error;
  }
  printer.show(last, id, () => operationLines(last));
  return codeOf(last);
}

export function codeOf(operation: OperationView): ExitCode {
  switch (operation.state) {
    case "running":
      return EXIT.ok;
    case "done":
      return refusedOf(operation) === 0 ? EXIT.ok : EXIT.attention;
    case "stopped":
      return EXIT.attention;
    case "failed":
      return EXIT.error;
  }
}

export function operationLines(operation: OperationView): readonly string[] {
  const { id, action, applied, total, state, refused } = operation;
  return [
    `${action}: ${applied.toLocaleString("en")} of ${plural(total, "job")}, ${state} (operation ${id})`,
    ...refused.map(
      ({ why, count, example }) => `  ${plural(count, "job")} refused: ${safe(why)} (e.g. ${safe(example)})`,
    ),
  ];
}
