/** fsck without the admin service, in the words of its API. */
import { type Finding as Found, fsck, repair } from "@sluice/fsck";
import type { Finding, FsckReport, RepairReport } from "@sluice/wire";
import { listBatchFolders } from "@sluice/working-folder";
import { type Context, stop } from "../context.ts";
import { EXIT, type ExitCode } from "../exit-codes.ts";
import { makeProgress } from "../interact/progress.ts";
import { directOperator, type OpenQueue } from "./open-queue.ts";

export interface Looked {
  readonly report: FsckReport;
  readonly found: readonly Found[];
}

export async function lookDirectly(context: Context, queue: OpenQueue): Promise<Looked | ExitCode> {
  const { io } = context;
  const progress = makeProgress(io);
  const begun = io.nowMs();
  const workingDir = context.given.text("working-dir");
  const folders = workingDir === undefined ? {} : { folders: () => foldersIn(workingDir) };
  const result = await fsck(queue.session, {
    ...folders,
    signal: io.interrupted,
    onProgress: ({ looked, of }) => progress.update([{ label: "looked at", done: looked, total: of, unit: "count" }]),
  });
  progress.end();
  if (result.kind === "aborted") return stop(context, EXIT.interrupted, "broken off; nothing was changed");
  if (result.kind === "lost") return stop(context, EXIT.error, "ZooKeeper does not answer any more");
  const { jobs, batches, rules, findings } = result.report;
  const report: FsckReport = {
    started: new Date(begun).toISOString(),
    took_ms: io.nowMs() - begun,
    jobs,
    batches,
    rules: rules.map(({ rule, demands, warn, fail }) => ({ rule, says: demands, findings: warn + fail })),
    findings: findings.map(shown),
  };
  return { report, found: findings };
}

/** Whoever names a folder wants to know about it: one that cannot be read is not an empty one. */
async function foldersIn(workingDir: string) {
  const listed = await listBatchFolders(workingDir);
  if (listed === null) throw new Error(`--working-dir ${workingDir} cannot be read`);
  return listed;
}

const shown = ({ rule, severity, path, what, repair: help, human }: Found): Finding => ({
  id: `${rule} ${path}`,
  rule,
  severity,
  path,
  what: human === undefined ? what : `${what}; by hand: ${human}`,
  repair: help ?? null,
});

export async function repairDirectly(
  context: Context,
  queue: OpenQueue,
  found: readonly Found[],
  reason: string,
): Promise<RepairReport> {
  const repaired: RepairReport["repaired"] = [];
  const left: RepairReport["left"] = [];
  for (const finding of found) {
    if (context.io.interrupted.aborted) {
      left.push({ path: finding.path, why: "broken off" });
      continue;
    }
    const result = await repair(queue, directOperator(context, reason), finding);
    if (result.kind === "applied") repaired.push({ path: finding.path, what: finding.repair ?? finding.what });
    else left.push({ path: finding.path, why: "why" in result ? result.why : result.kind });
  }
  return { repaired, left };
}
