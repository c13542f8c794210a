/**
 * Which fleet a tree belongs to, and which of its histories this is. Everything else that holds state for a fleet
 * (working folder, journals, inventory, store, archive) carries a stamp with the same two facts, so that nobody works
 * on an empty or foreign tree, or on one that was put back behind everyone's back.
 */
import type { Read } from "@sluice/zookeeper";
import type { QueueContext } from "./context.ts";
import { paths } from "./paths.ts";
import { records } from "./records.ts";

export interface FleetIdentity {
  /** The name of the installation: made by `sluice init`, kept by every restore. */
  readonly fleet: string;
  /** Grows with every restore. Tokens and numbers of an earlier epoch are not to be confused with those of this one. */
  readonly epoch: number;
  /** /fleet/id, the random name of this history: whoever knows another one must begin anew. */
  readonly history: string;
}

/** What a holder of state remembers of the tree it belongs to. */
export type FleetStamp = Pick<FleetIdentity, "fleet" | "epoch">;

/** The epoch of a tree that was made before there were epochs. */
export const FIRST_EPOCH = 1;

export type IdentityResult =
  | { readonly ok: true; readonly identity: FleetIdentity }
  /** `absent`: nobody has made a tree here, or it is gone. */
  | { readonly ok: false; readonly why: "absent" | "unreadable" | "silence"; readonly problem: string };

export async function readIdentity(ctx: Pick<QueueContext, "session">): Promise<IdentityResult> {
  const reads: readonly Read[] = [{ get: paths.fleetId }, { get: paths.fleetEpoch }];
  const there = await ctx.session.readMany(reads);
  if (!there.ok) return { ok: false, why: "silence", problem: `${there.code} ${there.detail}` };
  const [id, epoch] = there.value;
  if (id?.kind !== "node") return { ok: false, why: "absent", problem: `${paths.fleetId} does not exist` };
  const history = records.fleetId.decode(id.node.data);
  if (!history.ok) return { ok: false, why: "unreadable", problem: `${paths.fleetId}: ${history.problem}` };
  if (epoch?.kind !== "node") {
    return { ok: true, identity: { fleet: history.value, epoch: FIRST_EPOCH, history: history.value } };
  }
  const known = records.fleetEpoch.decode(epoch.node.data);
  if (!known.ok) return { ok: false, why: "unreadable", problem: `${paths.fleetEpoch}: ${known.problem}` };
  return {
    ok: true,
    identity: { fleet: known.value.fleet, epoch: known.value.epoch, history: history.value },
  };
}

/**
 * The epoch that follows. It is the time in seconds where clocks allow: two restores of one snapshot know nothing of each
 * other, and must not both make "the second epoch".
 */
export function nextEpoch(previous: number, nowMs: number): number {
  return Math.max(previous + 1, Math.floor(nowMs / 1_000));
}

export type StampVerdict =
  /** Same fleet, same epoch. */
  | "same"
  /** Nothing was ever kept here for a fleet: it is stamped now. */
  | "unstamped"
  /** The tree was restored since: what is kept here goes on in the new epoch, and the stamp follows. */
  | "restored"
  /** It belongs to another fleet. */
  | "foreign"
  /** The tree is older than what is kept here: it was put back without `sluice restore`. */
  | "tree-is-older";

export function judgeStamp(stamp: FleetStamp | null, tree: FleetStamp): StampVerdict {
  if (stamp === null) return "unstamped";
  if (stamp.fleet !== tree.fleet) return "foreign";
  if (stamp.epoch === tree.epoch) return "same";
  return stamp.epoch < tree.epoch ? "restored" : "tree-is-older";
}
