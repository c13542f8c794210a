/** What /livez and /readyz say. Pure: facts in, checks out. */
import type { SessionState } from "@sluice/zookeeper";
import type { LifeState } from "./lifecycle.ts";

export interface Check {
  readonly name: string;
  readonly ok: boolean;
  readonly detail: string;
}

export interface Facts {
  readonly life: LifeState;
  /** null = there is none. */
  readonly session: SessionState | null;
  /** Why there was none when one was last looked for. */
  readonly trouble: string | null;
  /** Why the tree there is not worked on; null = it is, or is not known. */
  readonly tree: string | null;
  readonly flapping: boolean;
  /** null = this service has no duties to look at a queue for. */
  readonly sinceQueueSeenMs: number | null;
  readonly idlePollMs: number;
  readonly pollMs: number;
  /** The loops that have not turned for longer than `stuckAfterMs`. */
  readonly stuck: readonly string[];
  /** What takes the queue's place while it cannot be reached; null = nothing does. */
  readonly standIn: Check | null;
}

const STUCK_FLOOR_MS = 120_000;

/** Alive and doing nothing is dead. */
export const stuckAfterMs = (pollMs: number, idlePollMs: number): number =>
  Math.max(5 * Math.max(pollMs, idlePollMs), STUCK_FLOOR_MS);

/** Two polls may be missed. */
const seenRecently = ({ sinceQueueSeenMs, idlePollMs, pollMs }: Facts): boolean =>
  sinceQueueSeenMs === null || sinceQueueSeenMs <= 3 * Math.max(idlePollMs, pollMs);

/** Never about ZooKeeper: an outage there must not restart anybody here. */
export function liveness(facts: Facts): readonly Check[] {
  const { stuck } = facts;
  return [
    { name: "engine", ok: stuck.length === 0, detail: stuck.length === 0 ? "turns" : `stuck: ${stuck.join(", ")}` },
  ];
}

export function readiness(facts: Facts): readonly Check[] {
  const { life, standIn } = facts;
  const covered = standIn?.ok === true;
  const running = life === "running" || (covered && life === "starting");
  return [
    { name: "service", ok: running, detail: life },
    ...reachOfQueue(facts).map((check) => (covered ? { ...check, ok: true } : check)),
    ...(standIn === null ? [] : [standIn]),
    ...liveness(facts),
  ];
}

function reachOfQueue(facts: Facts): readonly Check[] {
  const { session, trouble, tree, flapping } = facts;
  const without = trouble === null ? "no session" : `no session, connecting: ${trouble}`;
  const seen = seenRecently(facts);
  return [
    { name: "zookeeper", ok: session === "connected", detail: session ?? without },
    { name: "tree", ok: tree === null, detail: tree ?? "ours" },
    { name: "link", ok: !flapping, detail: flapping ? "breaks again and again" : "steady" },
    { name: "queue", ok: seen, detail: seen ? "seen recently" : "not seen for a while" },
  ];
}

/** As the Kubernetes API server prints it. */
export function printChecks(title: string, checks: readonly Check[], verbose: boolean): string {
  const allOk = checks.every(({ ok }) => ok);
  if (allOk && !verbose) return "ok\n";
  const lines = checks.map(({ name, ok, detail }) => `[${ok ? "+" : "-"}]${name} ${ok ? "ok" : "failed"}: ${detail}\n`);
  return `${lines.join("")}${title} check ${allOk ? "passed" : "failed"}\n`;
}
