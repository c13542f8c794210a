/** `sluice import`: looks, shows what would be done and what cannot be, asks, does it. */
import { bringFileInto, type ImportPlan, importOldTree, lookAtOldTree, oldFilesIn } from "@sluice/merritt-import";
import type { Session } from "@sluice/zookeeper";
import { resolve } from "node:path";
import { type Context, stop } from "../context.ts";
import { EXIT, type ExitCode } from "../exit-codes.ts";
import { confirmed, reasonFor } from "../interact/confirm.ts";
import { makeProgress } from "../interact/progress.ts";
import { plural } from "../output/text.ts";
import { directOperator, type OpenQueue, withQueue } from "./open-queue.ts";

export async function importDirectly(context: Context): Promise<ExitCode> {
  const { given } = context;
  const hosts = given.text("zookeeper");
  if (hosts === undefined)
    return stop(context, EXIT.usage, "an import goes straight to ZooKeeper", "add --zookeeper HOSTS");
  if (given.has("old-files") !== given.has("working-dir")) {
    return stop(context, EXIT.usage, "--old-files and --working-dir go together");
  }
  const from = given.text("from");
  return await withQueue(context, hosts, (queue) =>
    from === undefined
      ? lookAndBring(context, queue, queue.session, hosts)
      : withQueue(context, from, (old) => lookAndBring(context, queue, old.session, from)),
  );
}

async function lookAndBring(context: Context, queue: OpenQueue, source: Session, from: string): Promise<ExitCode> {
  const { given, io, printer } = context;
  const [oldFiles, workingDir] = [given.text("old-files"), given.text("working-dir")].map((dir) =>
    dir === undefined ? undefined : resolve(io.cwd, dir),
  );
  const inPlace = source === queue.session;
  const looked = await lookAtOldTree(source, queue.session, {
    inPlace,
    files: oldFiles === undefined ? null : oldFilesIn(oldFiles),
    assumeExpanded: given.has("assume-expanded"),
    nowMs: io.nowMs(),
  });
  if (looked.kind === "lost") return stop(context, EXIT.error, "ZooKeeper does not answer any more", "repeat");
  if (looked.kind === "refused") return stop(context, EXIT.refused, looked.why);
  const { plan } = looked;
  show(context, plan);
  const jobs = plan.bring.reduce((sum, batch) => sum + batch.jobs.length, 0);
  const what = `${plural(plan.bring.length, "batch", "batches")} and ${plural(jobs, "job")}`;
  const incomplete = plan.leftOut.length > 0;
  printer.note(
    `${what} to bring, ${plan.already.jobs} jobs brought before, ${plan.leftOut.length} that cannot be brought`,
  );
  if (given.has("dry-run")) return incomplete ? EXIT.attention : EXIT.ok;
  if (incomplete && !given.has("leave-out")) {
    return stop(
      context,
      EXIT.refused,
      "not all of it can be brought; nothing was written",
      "mend it, or add --leave-out",
    );
  }
  const reason = await reasonFor(context);
  if (!reason.ok) return reason.code;
  const sure = await confirmed(context, `Bring ${what} from ${from}${inPlace ? ", where they are" : ""}?`, "import");
  if (!sure.ok) return sure.code;
  const progress = makeProgress(io);
  const result = await importOldTree(queue, directOperator(context, reason.value), looked, {
    from,
    inPlace,
    bringFile:
      oldFiles === undefined || workingDir === undefined ? nothingToBring : bringFileInto(oldFiles, workingDir),
    onProgress: ({ done, of }) => progress.update([{ label: "jobs", done, total: of, unit: "count" }]),
  });
  progress.end();
  switch (result.kind) {
    case "imported":
      printer.note(`brought: ${plural(result.batches, "batch", "batches")}, ${plural(result.jobs, "job")}`);
      printer.note("  Next: sluice fsck --zookeeper, then start the services; the old ones must stay stopped");
      return incomplete ? EXIT.attention : EXIT.ok;
    case "refused":
      return stop(context, EXIT.refused, result.why);
    case "broken-off":
      return stop(
        context,
        EXIT.error,
        `broken off: ${result.why}`,
        "run the same command again: it goes on where it was",
      );
  }
}

/** The planner finds files only in folders that it was given. */
const nothingToBring = (): Promise<void> => Promise.reject(new Error("a file to bring, and no folder"));

interface Row {
  readonly what: string;
  readonly from: string;
  readonly to: string;
  readonly note: string;
}

function rowsOf(plan: ImportPlan): readonly Row[] {
  const brought = plan.bring.flatMap(({ plan: batch, jobs }): Row[] => [
    { what: batch.id, from: batch.from, to: batch.to, note: batch.notes.join("; ") },
    ...jobs.map(({ plan: job }) => ({ what: job.id, from: job.from, to: job.to, note: job.notes.join("; ") })),
  ]);
  const left = plan.leftOut.flatMap(({ batch, problems }): Row[] =>
    problems.map(({ path, why }) => ({ what: batch ?? path, from: "", to: "cannot", note: `${path} ${why}` })),
  );
  return [...brought, ...left];
}

function show({ printer }: Context, plan: ImportPlan): void {
  const rows = rowsOf(plan);
  printer.list<Row>({
    raw: { items: rows, already: plan.already },
    items: rows,
    columns: [
      { title: "WHAT", of: ({ what }) => what },
      { title: "WAS", of: ({ from }) => from, state: true },
      { title: "BECOMES", of: ({ to }) => to, state: true },
      { title: "NOTE", of: ({ note }) => note, flexible: true },
    ],
    nameOf: ({ what }) => what,
    none: "There is nothing to bring.",
  });
}
