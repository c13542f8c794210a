/** What the job queue wrote behind a snapshot, from the store that all job-apis share. */
import { type ReadRedo, readRedo } from "@sluice/job-store";
import type { Redo, RedoFrom, RestoreOptions } from "@sluice/tree-snapshot";
import { readFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import type { Option } from "../command.ts";
import type { Context } from "../context.ts";
import { plural } from "../output/text.ts";

export const JOB_STORE: Option = {
  name: "job-store",
  value: "FOLDER",
  says: "the store of jobs (JOB_STORE_DIR of the job-apis): the job queue comes back as it was at the disaster",
};
export const WITHOUT_JOB_STORE: Option = {
  name: "without-job-store",
  says: "it is lost: the job queue comes back as it was at the snapshot",
};

/** Undefined: nothing was said of it. */
export function redoOf(context: Context): RestoreOptions["redo"] {
  const { given, io } = context;
  if (given.has("without-job-store")) return "none";
  const named = given.text("job-store");
  return named === undefined ? undefined : (from) => readStore(context, resolve(io.cwd, named), from);
}

async function readStore(context: Context, folder: string, { fleet, epoch, zxid }: RedoFrom): Promise<Redo> {
  const owner = await fleetOf(folder);
  if (owner === null) return { ok: false, why: `${folder} is no store of jobs: it has no fleet.json` };
  if (owner !== fleet)
    return { ok: false, why: `the store of jobs ${folder} is of fleet ${owner}, the snapshot of ${fleet}` };
  const read = await readRedo(join(folder, "redo"), { epoch, zxid });
  tellOf(context, read);
  return { ok: true, shards: read.shards.map(({ nodes }) => nodes) };
}

function tellOf({ printer }: Context, { shards, damaged }: ReadRedo): void {
  let [transactions, missing] = [0, 0];
  for (const shard of shards) [transactions, missing] = [transactions + shard.transactions, missing + shard.missing];
  printer.note(`  The redo log of the job queue has ${plural(transactions, "transaction")} since the snapshot`);
  if (missing > 0)
    printer.note(
      `  WARNING: it lacks ${plural(missing, "transaction")}: what they alone changed is as in the snapshot`,
    );
  for (const file of damaged)
    printer.note(`  WARNING: redo/${file} in the store is damaged: what stands behind the damage is not read`);
}

async function fleetOf(folder: string): Promise<string | null> {
  const text = await readFile(join(folder, "fleet.json"), "utf8").catch(() => null);
  const stamp: unknown = text === null ? null : JSON.parse(text);
  return typeof stamp === "object" && stamp !== null && "fleet" in stamp ? String(stamp.fleet) : null;
}
