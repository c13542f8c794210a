/** The tree to a file and back. */
import { readSnapshot, type RedoneCounts, restoreSnapshot, takeSnapshot } from "@sluice/tree-snapshot";
import { ADMIN } from "@sluice/wire";
import { open, rename, rm, stat } from "node:fs/promises";
import { resolve } from "node:path";
import { type Command, toNobody } from "../command.ts";
import { type Context, refuse, stop } from "../context.ts";
import { JOB_STORE, redoOf, WITHOUT_JOB_STORE } from "../direct/redo.ts";
import { lookDirectly } from "../direct/lost.ts";
import { LOST_PARTS, withLostParts } from "../direct/lost-parts.ts";
import { directOperator, type OpenQueue, withQueue, ZOOKEEPER } from "../direct/open-queue.ts";
import { EXIT, type ExitCode } from "../exit-codes.ts";
import { confirmed, DRY_RUN, REASON, reasonFor, YES } from "../interact/confirm.ts";
import { makeProgress } from "../interact/progress.ts";
import { plural } from "../output/text.ts";

interface Checked {
  readonly fleet: string;
  readonly at: string;
  readonly consistency: string;
  readonly nodes: number;
}

export const SNAPSHOT_COMMANDS: readonly Command[] = [
  {
    words: ["snapshot"],
    says: "The queue's tree into a file, which only you can read: it holds everything, so keep it like a backup",
    takes: [{ name: "FILE", file: true }],
    options: [
      { name: "overwrite", says: "replace FILE if it is there; the old one stays until the new one is whole" },
      { name: "while-moving", says: "with --zookeeper: take one even if the tree keeps changing" },
      ZOOKEEPER,
    ],
    examples: ["snapshot tree.snapshot.gz"],
    permission: ADMIN.snapshot.permission,
    talksTo: (given) => (given.has("zookeeper") ? "nothing" : "admin"),
    async run(context) {
      const file = resolve(context.io.cwd, context.args[0] ?? "");
      if (!context.given.has("overwrite") && (await stat(file).catch(() => null)) !== null)
        return stop(context, EXIT.refused, `${file} is there already`, "name another file, or add --overwrite");
      const hosts = context.given.text("zookeeper");
      const code = hosts === undefined ? await download(context, file) : await takeDirectly(context, hosts, file);
      if (code !== EXIT.ok) return code;
      const checked = await checkFile(file);
      if (typeof checked === "string") return stop(context, EXIT.error, `${file}: ${checked}`, "take it again");
      context.printer.done({ file, ...checked }, file, `${file}: ${describe(checked)}`);
      return EXIT.ok;
    },
  },
  {
    words: ["restore"],
    says: "A snapshot into an empty tree, straight to ZooKeeper, while no service runs; then what was accepted since (see sluice lost); --dry-run checks the file",
    takes: [{ name: "FILE", file: true }],
    options: [
      { name: "replace", says: "take away what is in the tree" },
      {
        name: "another-fleet",
        says: "with --replace: also if what is there belongs to another fleet than the snapshot",
      },
      ...LOST_PARTS,
      JOB_STORE,
      WITHOUT_JOB_STORE,
      ZOOKEEPER,
      REASON,
      DRY_RUN,
      YES,
    ],
    examples: [
      "restore tree.snapshot.gz --dry-run",
      "restore tree.snapshot.gz --zookeeper zk1:2181,zk2:2181 --working-dir /data/queue --inventory sqlite:/data/inventory.db --job-store /data/job-store",
    ],
    talksTo: toNobody,
    run: restore,
  },
];

const describe = ({ fleet, at, consistency, nodes }: Checked): string =>
  `${plural(nodes, "node")} of fleet ${fleet} at ${at}, ${consistency}`;

/** Reads the whole file; a text says what is wrong with it. */
async function checkFile(file: string): Promise<Checked | string> {
  let checked: Checked | null = null;
  try {
    for await (const item of readSnapshot(file)) {
      if (item.kind === "broken") return item.why;
      if (item.kind === "header") checked = { ...item.header, nodes: 0 };
      if (item.kind === "whole" && checked !== null)
        return { fleet: checked.fleet, at: checked.at, consistency: checked.consistency, nodes: item.footer.nodes };
    }
  } catch (error) {
    return (error as Error).message;
  }
  return "it is no whole snapshot";
}

async function download(context: Context, file: string): Promise<ExitCode> {
  const { admin, io } = context;
  const answer = await admin.download(ADMIN.snapshot, { signal: io.interrupted });
  if (!answer.ok) return refuse(context, answer);
  const partial = `${file}.partial`;
  const progress = makeProgress(io);
  try {
    await rm(partial, { force: true });
    const handle = await open(partial, "wx", 0o600);
    try {
      let bytes = 0;
      const reader = answer.value.body?.getReader();
      for (;;) {
        const piece = (await reader?.read()) as { done: boolean; value?: Uint8Array } | undefined;
        if (piece?.value === undefined) break;
        await handle.write(piece.value);
        bytes += piece.value.length;
        progress.update([{ label: "snapshot", done: bytes, total: null, unit: "bytes" }]);
      }
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(partial, file);
    return EXIT.ok;
  } catch (error) {
    await rm(partial, { force: true });
    if (io.interrupted.aborted) return stop(context, EXIT.interrupted, "broken off; there is no file");
    return stop(context, EXIT.error, (error as Error).message, "take it again; there is no half file");
  } finally {
    progress.end();
  }
}

function takeDirectly(context: Context, hosts: string, file: string): Promise<ExitCode> {
  return withQueue(context, hosts, async ({ session }) => {
    const whileMoving = context.given.has("while-moving");
    const result = await takeSnapshot(session, file, { nowMs: context.io.nowMs(), whileMoving });
    switch (result.kind) {
      case "taken":
        return EXIT.ok;
      case "moving":
        return stop(
          context,
          EXIT.refused,
          "the tree kept changing",
          "pause the queue (sluice queue pause), wait until running work has ended, and repeat; or --while-moving",
        );
      case "refused":
        return stop(context, EXIT.refused, result.why);
      case "lost":
        return stop(context, EXIT.error, "ZooKeeper does not answer any more", "repeat");
    }
  });
}

function tellRedone({ printer }: Context, { made, changed, gone, leftOut }: RedoneCounts): void {
  if (made + changed + gone + leftOut === 0) return;
  printer.note(
    `  Job queue, since the snapshot: ${plural(made, "job")} made, ${changed} changed, ${gone} over` +
      (leftOut === 0 ? "" : `; ${leftOut} nodes left out, for the redo log has gaps`),
  );
}

/** What the snapshot did not have: shown, and made again if wanted, before any service starts. */
async function afterwards(context: Context, queue: OpenQueue, { at, consistency }: Checked): Promise<ExitCode> {
  const { given, printer } = context;
  if (!given.has("working-dir"))
    printer.note("  Next: sluice lost --zookeeper, before any service starts: what was accepted since the snapshot");
  const work = { creates: true, forgets: false, only: null, since: at };
  const code = given.has("working-dir")
    ? await withLostParts(context, (parts) => lookDirectly(context, queue, parts, work))
    : EXIT.ok;
  if (consistency !== "exact") printer.note("  Next: sluice fsck --repair --zookeeper, before any service starts");
  return code;
}

async function restore(context: Context): Promise<ExitCode> {
  const { given, printer, io } = context;
  const file = resolve(io.cwd, context.args[0] ?? "");
  const checked = await checkFile(file);
  if (typeof checked === "string") return stop(context, EXIT.error, `${file}: ${checked}`);
  if (given.has("dry-run")) {
    printer.done({ file, ...checked }, file, `${file} is whole: ${describe(checked)}`);
    return EXIT.ok;
  }
  const hosts = given.text("zookeeper");
  if (hosts === undefined)
    return stop(
      context,
      EXIT.usage,
      "a restore goes straight to ZooKeeper",
      "add --zookeeper HOSTS, with no service running",
    );
  const reason = await reasonFor(context);
  if (!reason.ok) return reason.code;
  const replace = given.has("replace");
  const what = `Restore ${describe(checked)} to ${hosts}${replace ? ", in place of what is there" : ""}?`;
  const sure = await confirmed(context, what, "restore");
  if (!sure.ok) return sure.code;
  return await withQueue(context, hosts, async (queue) => {
    const result = await restoreSnapshot(queue, directOperator(context, reason.value), file, {
      replace,
      anotherFleet: given.has("another-fleet"),
      redo: redoOf(context),
    });
    switch (result.kind) {
      case "restored":
        printer.done(
          {
            file,
            ...checked,
            fleet: result.identity.fleet,
            epoch: result.identity.epoch,
            fleet_id: result.identity.history,
            queued_jobs: result.redone,
          },
          result.identity.history,
          `restored: ${plural(result.nodes, "node")}; fleet ${result.identity.fleet} is now in epoch ${result.identity.epoch}`,
        );
        tellRedone(context, result.redone);
        printer.note("  Tokens that were revoked since the snapshot are valid again: look at sluice token list");
        return await afterwards(context, queue, checked);
      case "refused":
        return stop(
          context,
          EXIT.refused,
          result.why,
          "stop the services that it names and wait until their sessions are over; --replace takes away what is there, --another-fleet even of another fleet; --job-store FOLDER or --without-job-store for the job queue",
        );
      case "broken-off":
        return stop(context, EXIT.error, `broken off: ${result.why}`, "no service starts on it; repeat with --replace");
    }
  });
}
