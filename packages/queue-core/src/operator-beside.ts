/** Lets a program with CDL's library have a stage of this tree, and ends that. */
import { isOpen } from "@sluice/zookeeper";
import type { BesideStage } from "./beside.ts";
import type { QueueContext } from "./context.ts";
import { createOp, deleteOp } from "./job-ops.ts";
import { keepNumbersApart } from "./numbers-apart.ts";
import { act, type ActionResult, type Operator } from "./operator.ts";
import { paths } from "./paths.ts";
import { records } from "./records.ts";
import { formatTimestamp } from "./timestamp.ts";

export async function beginBeside(ctx: QueueContext, operator: Operator, stage: BesideStage): Promise<ActionResult> {
  const obstacle = await obstacleTo(ctx);
  if (obstacle !== null) return obstacle;
  const apart = await keepNumbersApart(ctx);
  if (apart.kind !== "apart") return apart;
  return await act(ctx, operator, "beside.start", stage, async (_op, who) => {
    const again = await obstacleTo(ctx);
    if (again !== null) return again;
    const { batch, job } = apart.given;
    const since = formatTimestamp(ctx.clock.nowMs());
    const record = { stage, by: who.name, since, why: who.reason, numbers: { batch, job } };
    return { kind: "go", ops: [createOp(paths.beside, records.beside.encode(record))] };
  });
}

async function obstacleTo({
  session,
}: QueueContext): Promise<Extract<ActionResult, { kind: "refused" | "lost" }> | null> {
  const there = await session.exists(paths.beside);
  const acl = await session.getAcl(paths.jobs);
  if (!there.ok || !acl.ok) return { kind: "lost" };
  if (there.value !== null) return { kind: "refused", why: "a stage has been let in already: `sluice beside show`" };
  if (isOpen(acl.value.entries)) return null;
  const why = "the nodes of this tree belong to an identity, and CDL's library has none: it could not write a thing";
  return { kind: "refused", why };
}

export async function endBeside(ctx: QueueContext, operator: Operator): Promise<ActionResult> {
  return await act(ctx, operator, "beside.end", "beside", async () => {
    const beside = await ctx.session.exists(paths.beside);
    if (!beside.ok) return { kind: "lost" };
    if (beside.value === null) return { kind: "refused", why: "no stage was let in" };
    return { kind: "go", ops: [deleteOp(paths.beside, beside.value.version)] };
  });
}
