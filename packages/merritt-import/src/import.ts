/** From one tree into another, or where it stands. */
import { type Operator, paths, type QueueContext } from "@sluice/queue-core";
import type { Session } from "@sluice/zookeeper";
import { type CarriedOut, carryOut, type CarryOutOptions } from "./carry-out.ts";
import type { OldTree } from "./old-tree.ts";
import { type ImportPlan, planImport, type PlanOptions } from "./plan.ts";
import { readOldTree, readTarget } from "./read-tree.ts";

export type Looked =
  | { readonly kind: "looked"; readonly tree: OldTree; readonly plan: ImportPlan }
  | { readonly kind: "refused"; readonly why: string }
  | { readonly kind: "lost" };

/** Reads both trees and writes nothing. `source` and `target` are one session when it stays where it is. */
export async function lookAtOldTree(source: Session, target: Session, options: PlanOptions): Promise<Looked> {
  const workers = await workersAt(target);
  if (workers === null) return { kind: "lost" };
  if (workers.length > 0) return { kind: "refused", why: `our own services are at work: ${workers.join(", ")}` };
  const [tree, facts] = [await readOldTree(source), await readTarget(target)];
  if (tree === null || facts === null) return { kind: "lost" };
  if (tree.sessionsOwn.length > 0) {
    const why = `the old fleet is at work, stop it first: ${tree.sessionsOwn.slice(0, 5).join(", ")}`;
    return {
      kind: "refused",
      why: tree.sessionsOwn.length > 5 ? `${why} and ${tree.sessionsOwn.length - 5} more` : why,
    };
  }
  return { kind: "looked", tree, plan: planImport(tree, facts, options) };
}

/** Carries out what was looked at. Batches that cannot be brought stay where they are. */
export async function importOldTree(
  ctx: QueueContext,
  operator: Operator,
  looked: Extract<Looked, { kind: "looked" }>,
  options: CarryOutOptions,
): Promise<CarriedOut> {
  return await carryOut(ctx, operator, looked.tree, looked.plan, options);
}

/** null = no answer. */
async function workersAt(session: Session): Promise<readonly string[] | null> {
  const stages = await session.children(paths.workers);
  if (!stages.ok) return stages.code === "NO_NODE" ? [] : null;
  const found: string[] = [];
  for (const stage of stages.value.names) {
    const workers = await session.children(paths.stageWorkers(stage));
    if (!workers.ok && workers.code !== "NO_NODE") return null;
    if (workers.ok) for (const each of workers.value.names) found.push(each);
  }
  return found;
}
