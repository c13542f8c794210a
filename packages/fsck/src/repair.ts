/** Mends one finding: a fresh look, then one multi that checks what was seen and carries an audit record. */
import { act, type ActionResult, type Operator, type QueueContext, readBeside } from "@sluice/queue-core";
import { contextOf, type FsckOptions, lookNow } from "./fsck.ts";
import { registeredSessions } from "./names.ts";
import type { Finding } from "./report.ts";

/**
 * `refused` = it has been mended meanwhile, has changed, or needs a human. Nothing is written unless the same rule is
 * broken at the same path in the look that the multi's checks rely on.
 */
export async function repair(
  ctx: QueueContext,
  operator: Operator,
  finding: Finding,
  options: FsckOptions = {},
): Promise<ActionResult> {
  const { subject, rule, path } = finding;
  if (subject.kind === "tree") return { kind: "refused", why: finding.human ?? "only a human can help here" };
  const sessions = await registeredSessions(ctx.session);
  const beside = await readBeside(ctx.session);
  if (sessions === null || !beside.ok) return { kind: "lost" };
  const others = { sessions, beside: beside.value };
  return await act(ctx, operator, `fsck.repair ${rule}`, subject.id, async () => {
    const now = await lookNow(ctx.session, subject, contextOf(ctx.session, others, options));
    if (now === null) return { kind: "lost" };
    const broken =
      now === "again" ? undefined : now.suspicions.find((each) => each.rule === rule && each.path === path);
    if (broken === undefined) return { kind: "refused", why: "it is not so any more: nothing to repair" };
    if ("human" in broken.mend) return { kind: "refused", why: broken.mend.human };
    return { kind: "go", ops: broken.mend.ops };
  });
}
