/**
 * Room for the numbers of CDL's library. ZooKeeper gives them: as many children as the directory has ever had, and no other.
 * Ours are far above, so that it meets none of them; below there may be none that it would still come to.
 */
import type { Op } from "@sluice/zookeeper";
import type { QueueContext } from "./context.ts";
import { setOp } from "./job-ops.ts";
import { EMPTY, type FleetIds, records } from "./records.ts";
import { paths } from "./paths.ts";

/** Ours begin here: it would take so many jobs of its own to come this far. */
export const OURS_FROM = 1_000_000_000;

/** A transaction of so many creates and deletes takes some milliseconds. */
const STEPS_PER_MULTI = 200;
/** Two minutes. */
const STEPS_MAX = 5_000_000;
const TRIES_MAX = 50;

export type Apart =
  | { readonly kind: "apart"; readonly given: FleetIds }
  | { readonly kind: "refused"; readonly why: string }
  | { readonly kind: "lost" };

/** Answers with the highest numbers that were given below ours: its own are above them from now on. */
export async function keepNumbersApart(ctx: QueueContext): Promise<Apart> {
  const before = await raiseOurs(ctx);
  if (before === null) return { kind: "lost" };
  const given = { batch: 0, job: 0 };
  for (const [kind, directory] of [
    ["batch", paths.batches],
    ["job", paths.jobs],
  ] as const) {
    const passed = await passOver(ctx, directory, before[kind] < OURS_FROM ? before[kind] : 0);
    if (typeof passed !== "number") return passed;
    given[kind] = passed;
  }
  return { kind: "apart", given };
}

/** Who has a block of lower numbers in hand uses it up: they were given before, and are passed over. */
async function raiseOurs({ session, committer }: QueueContext): Promise<FleetIds | null> {
  for (let attempt = 0; attempt < TRIES_MAX; attempt++) {
    const node = await session.get(paths.fleetIds);
    const ids = node.ok ? records.fleetIds.decode(node.value.data) : null;
    if (!node.ok || ids?.ok !== true) return null;
    const { batch, job } = ids.value;
    const raised = { ...ids.value, batch: Math.max(batch, OURS_FROM), job: Math.max(job, OURS_FROM) };
    const ops = [setOp(paths.fleetIds, records.fleetIds.encode(raised), node.value.stat.version)];
    const set = await committer.submit({ rank: "operator", ops });
    if (set.ok) return ids.value;
    if (set.code !== "BAD_VERSION") return null;
  }
  return null;
}

async function passOver(
  ctx: QueueContext,
  directory: string,
  reserved: number,
): Promise<number | Exclude<Apart, { kind: "apart" }>> {
  const listed = await ctx.session.children(directory);
  if (!listed.ok) return { kind: "lost" };
  const { names, stat } = listed.value;
  const top = highestBelowOurs(names, reserved);
  // The server shows how many came and went; what it numbers by is how many came.
  const next = (stat.cversion + names.length) / 2;
  const steps = Math.max(0, top + 1 - next);
  if (steps > STEPS_MAX) {
    const why = `numbers of ${directory} go up to ${top}, and the library would begin at ${next}: too far to pass over`;
    return { kind: "refused", why: `${why}. Import its queue into a new tree instead` };
  }
  for (let left = steps; left > 0; left -= STEPS_PER_MULTI) {
    const ops = Array.from({ length: Math.min(left, STEPS_PER_MULTI) }, () => step(directory)).flat();
    const answer = await ctx.committer.submit({ rank: "operator", ops });
    if (!answer.ok && answer.code === "SESSION_LOST") return { kind: "lost" };
    // A lost answer may have passed over some: too many do no harm.
    if (!answer.ok && answer.code !== "UNKNOWN") return { kind: "refused", why: `${answer.code} ${answer.detail}` };
  }
  return top;
}

function highestBelowOurs(names: readonly string[], reserved: number): number {
  const numbers = names.map((name) => Number(name.slice("jid".length)));
  return numbers.reduce((most, n) => (n < OURS_FROM && n > most ? n : most), reserved);
}

/** There and gone in one transaction: nobody sees it, and the server has counted it. */
function step(directory: string): readonly Op[] {
  const path = `${directory}/passed-over`;
  return [
    { op: "create", path, data: EMPTY },
    { op: "delete", path, version: 0 },
  ];
}
