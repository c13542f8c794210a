/**
 * The way into the tree of a session. Until there is a tree that this service belongs to, it waits: alive, not ready,
 * claiming nothing and building nothing.
 */
import { type FleetIdentity, openTree, type QueueContext } from "@sluice/queue-core";
import type { Clock, Session } from "@sluice/zookeeper";
import { setTimeout as pause } from "node:timers/promises";
import { Seldom } from "../engine/seldom.ts";
import type { Log } from "../log.ts";
import type { RuntimeMetrics } from "../observe/metrics.ts";
import { judgeTree, type ReadPart, TREE_REFUSALS, type TreeVerdict } from "./judge-tree.ts";

const LOOK_EVERY_MS = 500;
const REMIND_EVERY_MS = 300_000;

export interface TreeDoorParts {
  readonly log: Log;
  readonly clock: Clock;
  readonly metrics: RuntimeMetrics;
}

export class TreeDoor {
  readonly #parts: TreeDoorParts;
  readonly #reminders: Seldom;
  #known: FleetIdentity | null = null;
  #problem: string | null = null;

  constructor(parts: TreeDoorParts) {
    this.#parts = parts;
    this.#reminders = new Seldom(parts.clock, REMIND_EVERY_MS);
  }

  /** The tree that this process works on; null before it has met one. */
  get accepted(): FleetIdentity | null {
    return this.#known;
  }

  /** Why the tree that is there is not worked on; null if it is, or none has been looked at. */
  get problem(): string | null {
    return this.#problem;
  }

  /** Null when the session is lost first. */
  async enter(queue: QueueContext): Promise<FleetIdentity | null> {
    const { session } = queue;
    while (!session.lost.aborted) {
      const verdict = judgeTree(await openTree(queue), this.#ownParts());
      this.#tell(verdict);
      if (verdict.kind === "accepted") {
        this.#known = verdict.identity;
        return verdict.identity;
      }
      if (!(await untilNextLook(session))) return null;
    }
    return null;
  }

  /** What this process has worked on before. */
  #ownParts(): readonly ReadPart[] {
    return this.#known === null ? [] : [{ name: "this process", stamp: this.#known }];
  }

  #tell(verdict: TreeVerdict): void {
    const { log, metrics } = this.#parts;
    const refusal = verdict.kind === "refused" ? verdict.why : null;
    for (const why of TREE_REFUSALS) metrics.treeRefused.set({ why }, why === refusal ? 1 : 0);
    const before = this.#problem;
    this.#problem = verdict.kind === "refused" ? verdict.problem : null;
    if (verdict.kind === "silence") log.warn({ problem: verdict.problem }, "the tree cannot be read yet");
    if (verdict.kind !== "refused") return;
    const isNew = verdict.problem !== before;
    if (this.#reminders.isTime() || isNew)
      log.error(
        { why: verdict.why, problem: verdict.problem },
        "waiting for the tree of this fleet; nothing is made here",
      );
  }
}

async function untilNextLook(session: Session): Promise<boolean> {
  if (!(await session.untilConnected())) return false;
  await pause(LOOK_EVERY_MS, undefined, { signal: session.lost, ref: false }).catch(() => undefined);
  return !session.lost.aborted;
}
