/** The queue's own nodes: looked at, checked, mended, taken into a file. */
import { type Finding, fsck, type FsckReport as Report, type ListFolders, repair } from "@sluice/fsck";
import { ANSWERED, type Operation, problem } from "@sluice/http-api";
import { act } from "@sluice/queue-core";
import type { OpenQueue } from "@sluice/stage-runtime";
import { browse, takeSnapshot } from "@sluice/tree-snapshot";
import { listBatchFolders } from "@sluice/working-folder";
import { ADMIN, type FsckReport, type NodeView, type RepairReport } from "@sluice/wire";
import type { Response } from "express";
import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { connected, nothing, SILENCE } from "./answers.ts";
import { change, LOST } from "./changes.ts";
import { nameCursor, readCursor } from "./cursors.ts";
import type { AdminDeps } from "./deps.ts";
import { serve } from "./serve.ts";

const childCursor = nameCursor("children");

export const treeOperations = (deps: AdminDeps): readonly Operation[] => {
  const folders: ListFolders = () => listBatchFolders(deps.settings.workingDir);
  const lookOver = wholeTree(deps.clock, folders);
  return [
    serve(ADMIN.node, async ({ query }) => {
      const open = connected(deps.queue);
      const cursor = readCursor(childCursor, query.cursor);
      if ("problem" in cursor) return cursor;
      if (open === null) return SILENCE;
      const found = await browse(open.context.session, query.path, {
        ...(cursor.at === undefined ? {} : { after: cursor.at }),
        ...(query.limit === undefined ? {} : { limit: query.limit }),
      });
      switch (found.kind) {
        case "found":
          return { value: nodeView(found.node) };
        case "none":
          return nothing("node");
        case "refused":
          return {
            problem: problem("INVALID_REQUEST", "the path is wrong", {
              errors: [{ field: "path", detail: found.why }],
            }),
          };
        case "silence":
          return SILENCE;
      }
    }),
    serve(ADMIN.fsck, async () => {
      const open = connected(deps.queue);
      if (open === null) return SILENCE;
      const value = await lookOver(open);
      return value === null ? SILENCE : { value };
    }),
    serve(ADMIN.repair, async ({ body, caller, response }) => {
      const open = connected(deps.queue);
      if (open === null) return SILENCE;
      const result = await fsck(open.context.session, { folders });
      if (result.kind !== "looked") return SILENCE;
      const wanted = result.report.findings.filter((each) => body.findings?.includes(idOf(each)) !== false);
      const report: RepairReport = { repaired: [], left: [] };
      for (const finding of wanted) {
        const { path, rule } = finding;
        if (finding.repair === undefined) {
          report.left.push({ path, why: finding.human ?? "only a human can help here" });
          continue;
        }
        const what = { caller, response, action: "fsck.repair", target: `${rule} ${path}`, what: "finding" };
        const done = await change(deps, { ...what, reason: body.reason, message: finding.repair }, (operator) =>
          repair(open.context, operator, finding),
        );
        if ("value" in done) report.repaired.push({ path, what: finding.repair });
        else report.left.push({ path, why: done.problem.detail });
      }
      const found = new Set(wanted.map(idOf));
      for (const id of body.findings ?? []) {
        if (!found.has(id)) report.left.push({ path: id, why: "there is no such finding any more" });
      }
      return { value: report };
    }),
    serve(ADMIN.snapshot, async ({ caller, response }) => {
      const open = connected(deps.queue);
      if (open === null) return SILENCE;
      const what = {
        caller,
        response,
        action: "snapshot.take",
        target: open.identity.history,
        what: "tree",
        message: "",
      };
      const noted = await change(deps, { ...what, reason: "a snapshot of the tree" }, (operator) =>
        act(open.context, operator, "snapshot.take", open.identity.history, () =>
          Promise.resolve({ kind: "go", ops: [] }),
        ),
      );
      return "problem" in noted ? noted : await sendSnapshot(deps, open, response);
    }),
  ];
};

/** Reads every node there is: however many ask at once, it is done once, and all get that report. */
function wholeTree(clock: AdminDeps["clock"], folders: ListFolders): (open: OpenQueue) => Promise<FsckReport | null> {
  let looking: Promise<FsckReport | null> | null = null;
  const look = async ({ context }: OpenQueue): Promise<FsckReport | null> => {
    const [startedMs, fromMs] = [clock.nowMs(), clock.monotonicMs()];
    const result = await fsck(context.session, { folders });
    return result.kind === "looked" ? reportView(result.report, startedMs, clock.monotonicMs() - fromMs) : null;
  };
  return (open) => (looking ??= look(open).finally(() => (looking = null)));
}

/** By way of a file: whether the tree moved while it was read is known only at the end. */
async function sendSnapshot({ clock }: AdminDeps, { context }: OpenQueue, response: Response) {
  const folder = await mkdtemp(join(tmpdir(), "sluice-snapshot-"));
  try {
    const file = join(folder, "tree.gz");
    const taken = await takeSnapshot(context.session, file, { nowMs: clock.nowMs(), whileMoving: true });
    if (taken.kind === "refused") return { problem: problem("CONFLICT", taken.why) };
    if (taken.kind !== "taken") return LOST;
    const stamp = taken.header.at.replaceAll(/[:.]/g, "-");
    response.status(200).set({
      "Content-Type": "application/gzip",
      "Content-Disposition": `attachment; filename="sluice-tree-${stamp}.gz"`,
      "X-Snapshot-Consistency": taken.header.consistency,
    });
    await pipeline(createReadStream(file), response);
    return ANSWERED;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Names the finding as it stood: another fault at the same place is another one. */
const idOf = ({ rule, path, what }: Finding): string =>
  createHash("sha256")
    .update(JSON.stringify([rule, path, what]))
    .digest("hex")
    .slice(0, 16);

const reportView = ({ jobs, batches, rules, findings }: Report, startedMs: number, tookMs: number): FsckReport => ({
  started: new Date(startedMs).toISOString(),
  took_ms: Math.round(tookMs),
  jobs,
  batches,
  rules: rules.map(({ rule, demands, warn, fail }) => ({ rule, says: demands, findings: warn + fail })),
  findings: findings.map((finding) => ({
    id: idOf(finding),
    rule: finding.rule,
    severity: finding.severity,
    path: finding.path,
    what: finding.what,
    repair: finding.repair ?? null,
  })),
});

type Browsed = Extract<Awaited<ReturnType<typeof browse>>, { kind: "found" }>["node"];

function nodeView({ path, data, stat, children }: Browsed): NodeView {
  return {
    path,
    data: textOf(data),
    encoding: data.kind,
    version: stat.version,
    created: stat.created,
    modified: stat.modified,
    ephemeral: stat.ephemeralOwner !== null,
    children_count: children.total,
    children: [...children.names],
    next_cursor: children.next === null ? null : childCursor.print(children.next),
  };
}

function textOf(data: Browsed["data"]): string {
  switch (data.kind) {
    case "empty":
      return "";
    case "json":
      return JSON.stringify(data.value, null, 2);
    default:
      return data.value;
  }
}
