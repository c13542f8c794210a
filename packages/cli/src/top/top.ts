import { ADMIN, type Overview } from "@sluice/wire";
import { type Command, toAdmin } from "../command.ts";
import { type Context, refuse } from "../context.ts";
import { EXIT, type ExitCode } from "../exit-codes.ts";
import { overviewLines } from "./overview-lines.ts";

const ENTER = "\u001b[?1049h\u001b[?25l";
const LEAVE = "\u001b[?25h\u001b[?1049l";

export const TOP_COMMAND: Command = {
  words: ["top"],
  says: "The pipeline, live: queues, workers, rates, holds, failures. q leaves; one look if stdout is no terminal",
  examples: ["top"],
  permission: ADMIN.overviewEvents.permission,
  talksTo: toAdmin,
  run: (context) => (context.io.stdout.isTerminal && context.printer.form === "table" ? live(context) : once(context)),
};

async function once(context: Context): Promise<ExitCode> {
  const answer = await context.admin.call(ADMIN.overview, {});
  if (!answer.ok) return refuse(context, answer);
  context.printer.show(answer.value, answer.value.fleet_id, (printer) =>
    overviewLines(answer.value, printer, Infinity),
  );
  return EXIT.ok;
}

async function live(context: Context): Promise<ExitCode> {
  const { io, admin, printer } = context;
  const left = new AbortController();
  const signal = AbortSignal.any([io.interrupted, left.signal]);
  const release = io.onKey((key) => {
    if (key === "q" || key === "Q" || key === "\u0003") left.abort();
  });
  io.stdout.write(ENTER);
  let trouble: ExitCode | null = null;
  try {
    for await (const event of admin.events(ADMIN.overviewEvents, { signal })) {
      if (signal.aborted) break;
      if (event.ok) io.stdout.write(frame(event.value, context));
      else if (event.kind === "unreachable") io.stdout.write(`\u001b[H\u001b[2K${printer.paint.red(event.why)}`);
      else {
        io.stdout.write(LEAVE);
        trouble = refuse(context, event);
        break;
      }
    }
  } finally {
    release();
    left.abort();
    io.stdout.write(LEAVE);
  }
  return trouble ?? EXIT.ok;
}

/** From the top left corner, each line to its end: no flicker. */
export function frame(overview: Overview, { io, printer }: Pick<Context, "io" | "printer">): string {
  const { columns, rows } = io.stdout.size();
  const lines = overviewLines(overview, printer, columns).slice(0, Math.max(1, rows - 1));
  return `\u001b[H${lines.map((line) => `${line}\u001b[K`).join("\r\n")}\u001b[J`;
}
