/**
 * Taking records out of the tree that the archive has. Access lists forbid it at all other times: the list of the records'
 * directory is opened for the removal and closed behind it.
 */
import { type Acl, isOpen, type Op, RIGHTS, type Session } from "@sluice/zookeeper";
import type { AuditEnds, StoredAudit } from "./audit-chain.ts";
import type { SignedAnchor } from "./audit-anchor.ts";
import type { QueueContext } from "./context.ts";
import { createOp, deleteOp, setOp } from "./job-ops.ts";
import { rightsOf } from "./node-rights.ts";
import { paths } from "./paths.ts";
import { type AuditAnchor, records } from "./records.ts";

/** As many as a transaction removes: small ones stall nobody. */
export const AUDIT_REMOVED_AT_ONCE = 50;

export type AnchorMoved =
  | { readonly kind: "moved"; readonly ends: AuditEnds }
  /** Another process was faster, the list forbids it, or the answer is lost: the next run looks again. */
  | { readonly kind: "not-moved"; readonly why: string };

/** Before anything is removed. The records up to it are in the archive. */
export async function setAuditAnchor(
  ctx: Pick<QueueContext, "committer">,
  ends: AuditEnds,
  signed: SignedAnchor,
): Promise<AnchorMoved> {
  return await write(ctx, ends, { ...signed, removed: ends.anchor?.removed ?? 0 }, []);
}

/** `next` are the first records that are still there, in order, none of them younger than the anchor. */
export async function removeAudited(
  ctx: Pick<QueueContext, "committer">,
  ends: AuditEnds,
  next: readonly StoredAudit[],
): Promise<AnchorMoved> {
  const { anchor } = ends;
  const last = next.at(-1);
  const fits = next.every(({ number }, i) => number === ends.first + i) && next.length <= AUDIT_REMOVED_AT_ONCE;
  if (anchor === null || last === undefined || last.number > anchor.number || !fits)
    return { kind: "not-moved", why: "these are not the next records behind the anchor" };
  const gone = next.map(({ number, version }) => deleteOp(paths.auditRecord(number), version));
  return await write(ctx, ends, { ...anchor, removed: last.number }, gone);
}

/** The anchor's version fences each step: of two processes, or of one and its own late frame, one is refused. */
async function write(
  { committer }: Pick<QueueContext, "committer">,
  ends: AuditEnds,
  anchor: AuditAnchor,
  removals: readonly Op[],
): Promise<AnchorMoved> {
  const data = records.auditAnchor.encode(anchor);
  const move =
    ends.anchor === null ? createOp(paths.auditAnchor, data) : setOp(paths.auditAnchor, data, ends.anchorVersion);
  const answer = await committer.submit({ rank: "commit", ops: [move, ...removals] });
  if (!answer.ok) return { kind: "not-moved", why: `${answer.code} ${answer.detail}` };
  const anchorVersion = ends.anchor === null ? 0 : ends.anchorVersion + 1;
  return { kind: "moved", ends: { ...ends, anchor, anchorVersion, first: anchor.removed + 1 } };
}

/** Whether the list of the records' directory allows to remove some of them. */
export const allowsRemoval = (list: readonly Acl[]): boolean =>
  list.some(({ permissions }) => (permissions & RIGHTS.delete) !== 0);

/** Null when it is so, else why not. Where nodes have no owners there is nothing to do. */
export async function letAudit(session: Session, may: "grow" | "shrink"): Promise<string | null> {
  const usual = session.aclOf(paths.auditRecords);
  if (isOpen(usual)) return null;
  const list = await session.getAcl(paths.auditRecords);
  if (!list.ok) return `${list.code} ${list.detail}`;
  if (allowsRemoval(list.value.entries) === (may === "shrink")) return null;
  const ours = rightsOf(paths.auditRecords);
  const wider = usual.map((each) =>
    each.permissions === ours ? { ...each, permissions: ours | RIGHTS.delete } : each,
  );
  const set = await session.setAcl(paths.auditRecords, may === "shrink" ? wider : usual, list.value.version);
  return set.ok ? null : `${set.code} ${set.detail}`;
}
