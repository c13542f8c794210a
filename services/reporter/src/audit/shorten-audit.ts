/**
 * Keeps the audit in the tree short: all records go into the archive, those older than the retention out of the tree, behind a
 * signed anchor. Each step can be repeated: a process may die between any two of them.
 */
import type { AuditArchive } from "@sluice/inventory";
import {
  type AnchorSigner,
  AUDIT_RECORDS_BACK,
  AUDIT_REMOVED_AT_ONCE,
  type AuditEnds,
  formatTimestamp,
  letAudit,
  pageOf,
  type QueueContext,
  readAuditEnds,
  readAuditRecords,
  readIdentity,
  removeAudited,
  setAuditAnchor,
  type StoredAudit,
} from "@sluice/queue-core";
import type { HandlerContext } from "@sluice/stage-runtime";
import { exportAudit } from "./export-audit.ts";
import { type AuditTrouble, away, trouble } from "./trouble.ts";

export type AnchorKey =
  { readonly ok: true; readonly value: AnchorSigner } | { readonly ok: false; readonly problem: string };

export interface ShortenParts {
  readonly archive: AuditArchive;
  /** Asked for when something is to be signed, so that a file that was replaced counts at once. */
  readonly key: () => Promise<AnchorKey>;
  readonly retentionMs: number;
  /** Up to here records may be missing in the archive: it was lost, and operators know. */
  readonly lostUpTo: number;
}

export interface Shortened {
  /** Null: all that was to be done is done. */
  readonly trouble: AuditTrouble | null;
  readonly exported: number;
  /** Records of another past that the archive keeps beside the chain. */
  readonly left: number;
  readonly removed: number;
  /** How many records the tree has now. */
  readonly inTree: number;
}

type Context = HandlerContext & { readonly queue: QueueContext };

/** What one run has done so far. */
interface Run {
  readonly parts: ShortenParts;
  readonly ctx: Context;
  ends: AuditEnds;
  exported: number;
  left: number;
  removed: number;
}

export async function shortenAudit(parts: ShortenParts, ctx: Context): Promise<Shortened> {
  const { session } = ctx.queue;
  // A process that died in a removal left the list open.
  const closed = await letAudit(session, "grow");
  const read = await readAuditEnds(session);
  if (read.kind !== "found") {
    const what = read.kind === "silence" ? "ZooKeeper does not answer" : `${read.path} ${read.problem}`;
    const why = trouble(read.kind === "silence" ? "silence" : "broken-chain", what);
    return { trouble: why, exported: 0, left: 0, removed: 0, inTree: 0 };
  }
  const run: Run = { parts, ctx, ends: read.ends, exported: 0, left: 0, removed: 0 };
  const found = closed === null ? await steps(run) : trouble("refused", closed);
  const { ends, exported, left, removed } = run;
  return { trouble: found, exported, left, removed, inTree: ends.head.number - ends.first + 1 };
}

/** Null = done. */
async function steps(run: Run): Promise<AuditTrouble | null> {
  const { parts, ctx } = run;
  const { session } = ctx.queue;
  const at = formatTimestamp(ctx.clock.nowMs());
  const exported = await exportAudit({ session, archive: parts.archive, signal: ctx.signal, at }, run.ends);
  if (!exported.ok) return exported.trouble;
  [run.exported, run.left] = [exported.value.added, exported.value.left];
  await ctx.failpoint("afterAuditExport");
  const gap = await gapBefore(run);
  if (gap !== null) return gap;
  const due = await lastDue(run);
  if (due === "silence") return trouble("silence", "ZooKeeper does not answer");
  const anchored = due === null ? null : await anchorAt(run, due, at);
  return anchored ?? (await removeAll(run));
}

/** What is removed must be in the archive: it may have been restored from a copy, or be another database. */
async function gapBefore({ parts, ctx, ends }: Run): Promise<AuditTrouble | null> {
  const { anchor, first } = ends;
  if (anchor === null || anchor.removed === 0 || anchor.removed <= parts.lostUpTo) return null;
  const [oldest] = (await readAuditRecords(ctx.queue.session, [first])) ?? [];
  const hash = anchor.removed === anchor.number ? anchor.hash : oldest?.record.previous;
  if (hash === undefined) return trouble("silence", "ZooKeeper does not answer");
  const known = await parts.archive.knownAudit([hash]);
  if (known.kind !== "found") return away(known);
  if (known.value.has(hash)) return null;
  const why = `record ${anchor.removed} is removed from the tree, and the archive does not have it: is it another database, or an older copy?`;
  return trouble("gap", why);
}

/** The youngest record that is older than the retention, if the anchor is not there yet. The last ones stay in any case. */
async function lastDue({ parts, ctx, ends }: Run): Promise<StoredAudit | "silence" | null> {
  const { session } = ctx.queue;
  const limitMs = session.serverNowMs() - parts.retentionMs;
  const last = ends.head.number - AUDIT_RECORDS_BACK;
  let due: StoredAudit | null = null;
  for (let next = Math.max(ends.first, (ends.anchor?.number ?? 0) + 1); next <= last;) {
    const page = await readAuditRecords(session, pageOf(next, last));
    if (page === null) return "silence";
    for (const stored of page) {
      if (stored === null || stored.madeMs > limitMs) return due;
      due = stored;
    }
    next += page.length;
  }
  return due;
}

async function anchorAt(run: Run, due: StoredAudit, at: string): Promise<AuditTrouble | null> {
  const { parts, ctx, ends } = run;
  const key = await parts.key();
  if (!key.ok) return trouble("no-key", key.problem);
  const identity = await readIdentity(ctx.queue);
  if (!identity.ok) return trouble("silence", identity.problem);
  const signed = key.value.sign({ fleet: identity.identity.fleet, number: due.number, hash: due.hash, at });
  const row = { number: due.number, hash: due.hash, anchor: JSON.stringify(signed) };
  const kept = await parts.archive.keepAuditAnchor(row);
  if (kept.kind !== "kept") return away(kept);
  await ctx.failpoint("afterAuditSigned");
  const moved = await setAuditAnchor(ctx.queue, ends, signed);
  if (moved.kind !== "moved") return trouble("refused", moved.why);
  run.ends = moved.ends;
  await ctx.failpoint("afterAuditAnchor");
  return null;
}

async function removeAll(run: Run): Promise<AuditTrouble | null> {
  const { session } = run.ctx.queue;
  if (run.ends.first > (run.ends.anchor?.number ?? 0)) return null;
  const opened = await letAudit(session, "shrink");
  if (opened !== null) return trouble("refused", opened);
  await run.ctx.failpoint("afterAuditOpened");
  const found = await removeChunks(run);
  const closed = await letAudit(session, "grow");
  return found ?? (closed === null ? null : trouble("refused", closed));
}

async function removeChunks(run: Run): Promise<AuditTrouble | null> {
  const { parts, ctx } = run;
  for (let last = run.ends.anchor?.number ?? 0; run.ends.first <= last && !ctx.signal.aborted;) {
    const { first } = run.ends;
    const page = await readAuditRecords(
      ctx.queue.session,
      pageOf(first, Math.min(last, first + AUDIT_REMOVED_AT_ONCE - 1)),
    );
    if (page === null) return trouble("silence", "ZooKeeper does not answer");
    const going = page.flatMap((stored) => stored ?? []);
    const known = await parts.archive.knownAudit(going.map(({ hash }) => hash));
    if (known.kind !== "found") return away(known);
    const lacking = page.findIndex((stored) => stored === null || !known.value.has(stored.hash));
    if (lacking !== -1) return trouble("gap", `record ${first + lacking} is not in the archive as the tree has it`);
    const moved = await removeAudited(ctx.queue, run.ends, going);
    if (moved.kind !== "moved") return trouble("refused", moved.why);
    run.removed += going.length;
    run.ends = moved.ends;
    last = run.ends.anchor?.number ?? 0;
    await ctx.failpoint("afterAuditRemoval");
  }
  return null;
}
