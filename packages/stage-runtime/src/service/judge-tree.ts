/**
 * Whether a service works on the tree that it found. What it keeps outside the tree (working folder, journal, inventory,
 * store) says to which fleet it belongs. Pure.
 */
import {
  type FleetIdentity,
  type FleetStamp,
  judgeStamp,
  type TreeObstacle,
  type TreeResult,
} from "@sluice/queue-core";

/** A part that holds state of a fleet, and what it says of itself; null: nothing yet. */
export interface ReadPart {
  /** For people: `the working folder /srv/sluice/queue`. */
  readonly name: string;
  readonly stamp: FleetStamp | null;
}

/** Why a service waits though ZooKeeper answers. */
export const TREE_REFUSALS = [
  "absent",
  "merritt",
  "unfinished",
  "layout",
  "unreadable",
  "foreign",
  "older",
  "part",
] as const satisfies readonly (Exclude<TreeObstacle, "silence"> | "foreign" | "older" | "part")[];
export type TreeRefusal = (typeof TREE_REFUSALS)[number];

export type TreeVerdict =
  | { readonly kind: "accepted"; readonly identity: FleetIdentity; readonly behind: readonly string[] }
  /** No answer: nothing is known. */
  | { readonly kind: "silence"; readonly problem: string }
  /** `problem` says to which fleet the service belongs, what it met, and what to do. */
  | { readonly kind: "refused"; readonly why: TreeRefusal; readonly problem: string };

export function judgeTree(tree: TreeResult, parts: readonly ReadPart[]): TreeVerdict {
  if (!tree.ok) return judgeObstacle(tree, parts);
  const { identity } = tree;
  const judged = parts.map((part) => ({ ...part, verdict: judgeStamp(part.stamp, identity) }));
  for (const { name, stamp, verdict } of judged) {
    if (stamp === null) continue;
    if (verdict === "foreign") return { kind: "refused", why: "foreign", problem: foreign(name, stamp, identity) };
    if (verdict === "tree-is-older") return { kind: "refused", why: "older", problem: older(name, stamp, identity) };
  }
  const behind = judged.filter(({ verdict }) => verdict === "unstamped" || verdict === "restored");
  return { kind: "accepted", identity, behind: behind.map(({ name }) => name) };
}

function judgeObstacle(
  { why, problem }: Extract<TreeResult, { readonly ok: false }>,
  parts: readonly ReadPart[],
): TreeVerdict {
  if (why === "silence") return { kind: "silence", problem };
  const own = ownFleet(parts);
  if (own === null) return { kind: "refused", why, problem };
  const met = why === "absent" ? `ZooKeeper holds no fleet. ${RESTORE}` : problem;
  return { kind: "refused", why, problem: `${own}. ${met}` };
}

const RESTORE = "Bring its tree back with `sluice restore`; `sluice init` would begin another fleet";

/** The part that was stamped last says where the fleet is. */
function ownFleet(parts: readonly ReadPart[]): string | null {
  const stamped = parts.flatMap(({ name, stamp }) => (stamp === null ? [] : [{ name, stamp }]));
  const [latest] = stamped.sort((a, b) => b.stamp.epoch - a.stamp.epoch);
  return latest === undefined ? null : belongs(latest.name, latest.stamp);
}

const belongs = (name: string, { fleet, epoch }: FleetStamp): string =>
  `${capital(name)} belongs to fleet ${fleet}, epoch ${epoch}`;

const foreign = (name: string, stamp: FleetStamp, { fleet }: FleetStamp): string =>
  `${belongs(name, stamp)}. ZooKeeper holds fleet ${fleet}. Point ZOOKEEPER_CONNECT to the ensemble of ${stamp.fleet}, or bring its tree back with \`sluice restore\`, or give this service a place of its own`;

const older = (name: string, stamp: FleetStamp, { epoch }: FleetStamp): string =>
  `${belongs(name, stamp)}. ZooKeeper holds it in epoch ${epoch}: an older tree was put back without \`sluice restore\`. Run \`sluice restore --replace\` with the latest snapshot`;

const capital = (text: string): string => text.slice(0, 1).toUpperCase() + text.slice(1);
