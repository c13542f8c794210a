/** A job until it is over. */
import { isEnded } from "@sluice/queue-core";
import { ADMIN, type JobDetail } from "@sluice/wire";
import { type Context, refuse, stop } from "./context.ts";
import { EXIT, type ExitCode } from "./exit-codes.ts";
import { makeProgress } from "./interact/progress.ts";
import { downloadBar } from "./watch-batch.ts";

export async function watchJob(context: Context): Promise<ExitCode> {
  const { io, given, admin, printer } = context;
  const id = context.args[0] ?? "";
  const seconds = given.seconds("timeout");
  const deadline = seconds === undefined ? null : AbortSignal.timeout(seconds * 1_000);
  const ended = new AbortController();
  const signal = AbortSignal.any([io.interrupted, ended.signal, ...(deadline === null ? [] : [deadline])]);
  const progress = makeProgress(io);
  let last: JobDetail | null = null;
  let said = "";
  try {
    for await (const event of admin.events(ADMIN.jobEvents, { params: { id }, signal })) {
      if (!event.ok) {
        if (signal.aborted) break;
        if (event.kind === "refused") return refuse(context, event);
        printer.note(`no answer (${event.why}); trying again`);
        continue;
      }
      last = event.value;
      const line = `${last.jid} ${last.status}${last.working_on_it === null ? "" : ` (${last.working_on_it})`}`;
      if (line !== said) {
        progress.end();
        printer.note(line);
      }
      said = line;
      progress.update(downloadBar(last));
      if (isEnded(last.status)) break;
    }
  } finally {
    ended.abort();
    progress.end();
  }
  if (last === null || !isEnded(last.status)) {
    const next = `sluice job watch ${id}`;
    if (io.interrupted.aborted) return stop(context, EXIT.interrupted, "the job goes on without you", next);
    if (deadline?.aborted === true)
      return stop(context, EXIT.timeout, `${id} is still ${last?.status ?? "unknown"}`, next);
    return stop(context, EXIT.error, "the stream ended before the job did", next);
  }
  printer.done(last, last.jid, `${last.jid} is ${last.status}${last.message === "" ? "" : `: ${last.message}`}`);
  return last.status === "Completed" ? EXIT.ok : EXIT.attention;
}
