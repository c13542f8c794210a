import { choreDone, expectChore } from "@sluice/queue-core";
import type { Sweep } from "@sluice/stage-runtime";
import { type ShortenParts, type Shortened, shortenAudit } from "../audit/shorten-audit.ts";

export type OnShortened = (done: Shortened) => void;

export interface AuditSweepParts extends ShortenParts {
  readonly onShortened?: OnShortened;
}

/** Old records of the audit leave the tree for the archive. */
export const auditSweep = (parts: AuditSweepParts, everyMs: number): Sweep => ({
  kind: "sweep",
  name: "audit",
  everyMs,
  async run(ctx) {
    await expectChore(ctx.queue.session, "audit");
    const done = await shortenAudit(parts, ctx);
    parts.onShortened?.(done);
    const { trouble, exported, left, removed, inTree } = done;
    const counts = { exported, removed, in_tree: inTree };
    if (left > 0)
      ctx.log.warn(
        { records: left },
        "the tree was restored: the archive keeps records of the audit that are not part of its chain any more",
      );
    if (trouble !== null) ctx.log.error({ ...trouble, ...counts }, "the audit was not shortened");
    else if (removed > 0) ctx.log.info(counts, "the audit was shortened");
    if (trouble === null && !ctx.signal.aborted) await choreDone(ctx.queue.session, "audit");
  },
});
