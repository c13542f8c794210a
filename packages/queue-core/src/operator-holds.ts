/** Hold and release a collection, pause and resume the queue or a stage, drain a worker. */
import type { QueueContext } from "./context.ts";
import { holdPath, type HoldTarget, releaseHoldOps, setHoldOps } from "./holds.ts";
import { act, type ActionPlan, type ActionResult, mayTouch, type Operator } from "./operator.ts";
import { paths } from "./paths.ts";
import { type Hold, records } from "./records.ts";
import { formatTimestamp, parseTimestamp } from "./timestamp.ts";

function nameOf(target: HoldTarget): string {
  switch (target.kind) {
    case "collection":
      return target.profile;
    case "stage":
      return target.stage;
    case "worker":
      return target.worker;
    case "queue":
      return "ingest";
  }
}

/** What a refusal says of a target: queue and stages are paused, collections held, workers drained. */
function stateText(target: HoldTarget, how: string): string {
  switch (target.kind) {
    case "collection":
      return `collection ${target.profile} is ${how} held`;
    case "stage":
      return `stage ${target.stage} is ${how} paused`;
    case "worker":
      return `worker ${target.worker} is ${how} draining`;
    case "queue":
      return `the queue is ${how} paused`;
  }
}

/** Names of profiles and workers become parts of paths: letters, digits, dot, dash and underscore only. */
const SAFE_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/;

/** Queue, stages and workers are everybody's: nobody who is bound to collections stops them. */
const isTheirs = (operator: Operator, target: HoldTarget): boolean =>
  target.kind === "collection" ? mayTouch(operator, target.profile) : operator.collections === undefined;

export async function setHold(
  ctx: QueueContext,
  operator: Operator,
  target: HoldTarget,
  until?: string,
): Promise<ActionResult> {
  if (!isTheirs(operator, target)) return { kind: "not-found" };
  if (!SAFE_NAME.test(nameOf(target))) {
    return { kind: "refused", why: `no ${target.kind} can be called ${JSON.stringify(nameOf(target))}` };
  }
  const endsAtMs = until === undefined ? null : parseTimestamp(until);
  if (until !== undefined && (endsAtMs === null || endsAtMs <= ctx.clock.nowMs())) {
    return {
      kind: "refused",
      why: `until ${JSON.stringify(until)}: a time to come is needed, with its offset from UTC`,
    };
  }
  return await act(ctx, operator, `${target.kind}.hold`, nameOf(target), async (_op, who) => {
    const look = await lookAt(ctx, target);
    if ("kind" in look) return look;
    if (look.node !== null) return { kind: "refused", why: stateText(target, "already") };
    const since = formatTimestamp(ctx.clock.nowMs());
    const hold = {
      by: who.name,
      since,
      why: who.reason,
      until: endsAtMs === null ? undefined : formatTimestamp(endsAtMs),
    };
    return { kind: "go", ops: setHoldOps(target, hold, look.counter) };
  });
}

export async function releaseHold(ctx: QueueContext, operator: Operator, target: HoldTarget): Promise<ActionResult> {
  return await releaseHoldIf(ctx, operator, target, () => null);
}

/** `refusal` sees the hold as the transaction finds it (null: not readable), and says why it must stay. */
export async function releaseHoldIf(
  ctx: QueueContext,
  operator: Operator,
  target: HoldTarget,
  refusal: (hold: Hold | null) => string | null,
): Promise<ActionResult> {
  if (!isTheirs(operator, target)) return { kind: "not-found" };
  if (!SAFE_NAME.test(nameOf(target))) return { kind: "refused", why: stateText(target, "not") };
  return await act(ctx, operator, `${target.kind}.release`, nameOf(target), async () => {
    const look = await lookAt(ctx, target);
    if ("kind" in look) return look;
    if (look.node === null) return { kind: "refused", why: stateText(target, "not") };
    const why = refusal(look.hold);
    if (why !== null) return { kind: "refused", why };
    return { kind: "go", ops: releaseHoldOps(target, look.node, look.counter) };
  });
}

interface HoldLook {
  readonly counter: { readonly value: number; readonly version: number };
  /** Version of the hold's node; null when there is none. */
  readonly node: number | null;
  /** What it says; null when there is none, or nothing that can be read. */
  readonly hold: Hold | null;
}

async function lookAt(ctx: QueueContext, target: HoldTarget): Promise<HoldLook | Exclude<ActionPlan, { kind: "go" }>> {
  const answers = await ctx.session.readMany([{ get: paths.holds }, { get: holdPath(target) }]);
  if (!answers.ok) return { kind: "lost" };
  const [counterNode, hold] = answers.value;
  if (counterNode?.kind !== "node") return { kind: "refused", why: "the tree is not initialised" };
  const counter = records.counter.decode(counterNode.node.data);
  const decoded = hold?.kind === "node" ? records.hold.decode(hold.node.data) : null;
  return {
    counter: { value: counter.ok ? counter.value : 0, version: counterNode.node.stat.version },
    node: hold?.kind === "node" ? hold.node.stat.version : null,
    hold: decoded?.ok === true ? decoded.value : null,
  };
}
