/**
 * The way into the tree of a session. Until there is a tree that this service and its parts belong to, it waits: alive,
 * not ready, claiming nothing and building nothing.
 */
import { type FleetIdentity, type FleetStamp, openTree, type QueueContext } from "@sluice/queue-core";
import type { Clock, Session } from "@sluice/zookeeper";
import { setTimeout as pause } from "node:timers/promises";
import { Seldom } from "../engine/seldom.ts";
import type { Log } from "../log.ts";
import type { RuntimeMetrics } from "../observe/metrics.ts";
import { judgeTree, type ReadPart, TREE_REFUSALS, type TreeVerdict } from "./judge-tree.ts";
import type { StampedPart } from "./stamped-part.ts";

const LOOK_EVERY_MS = 500;
const REMIND_EVERY_MS = 300_000;

export interface TreeDoorParts {
  readonly log: Log;
  readonly clock: Clock;
  readonly metrics: RuntimeMetrics;
  /** What this service keeps outside the tree. */
  readonly stamped: () => readonly StampedPart[];
  /** A part that was away when the service began to work turned out to be another fleet's. */
  readonly onForeignPart: (problem: string) => void;
}

interface LookedPart extends ReadPart {
  readonly part: StampedPart;
}

interface Looked {
  readonly read: readonly LookedPart[];
  readonly away: readonly StampedPart[];
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
      const tried = await this.#tryToEnter(queue);
      if (tried === "again") continue;
      if (tried !== null) return tried;
      if (!(await untilNextLook(session))) return null;
    }
    return null;
  }

  async #tryToEnter(queue: QueueContext): Promise<FleetIdentity | "again" | null> {
    const tree = await openTree(queue);
    const looked = await this.#look(this.#parts.stamped());
    if (typeof looked === "string") return this.#refuse(looked);
    const verdict = judgeTree(tree, [...this.#memory(), ...looked.read]);
    this.#tell(verdict);
    if (verdict.kind !== "accepted") return null;
    const behind = looked.read.filter(({ name, part }) => verdict.behind.includes(name) && part.write !== undefined);
    if (behind.length > 0) {
      const problem = await this.#stamp(behind, verdict.identity);
      // What others wrote meanwhile is judged, too.
      return problem === null ? "again" : this.#refuse(problem);
    }
    for (const { part } of looked.read) part.open?.();
    this.#known = verdict.identity;
    if (looked.away.length > 0) this.#catchUp(looked.away, verdict.identity, queue.session);
    return verdict.identity;
  }

  /** What this process has worked on before. */
  #memory(): readonly ReadPart[] {
    return this.#known === null ? [] : [{ name: "this process", stamp: this.#known }];
  }

  async #look(parts: readonly StampedPart[]): Promise<Looked | string> {
    const read: LookedPart[] = [];
    const away: StampedPart[] = [];
    for (const part of parts) {
      try {
        const found = await part.read();
        if (found.kind === "away") away.push(part);
        else read.push({ part, name: part.name, stamp: found.stamp });
      } catch (error) {
        return `${part.name}: which fleet it belongs to cannot be read: ${messageOf(error)}`;
      }
    }
    return { read, away };
  }

  async #stamp(parts: readonly LookedPart[], { fleet, epoch }: FleetStamp): Promise<string | null> {
    for (const { part, name, stamp } of parts) {
      try {
        await part.write?.({ fleet, epoch }, stamp);
      } catch (error) {
        return `${name}: which fleet it belongs to cannot be written: ${messageOf(error)}`;
      }
      this.#parts.log.info(
        { part: name, before: stamp, fleet, epoch },
        "a part of this service belongs to the fleet now",
      );
    }
    return null;
  }

  /** Nobody can use them while they are away; once they are there they are judged like the others. */
  #catchUp(parts: readonly StampedPart[], identity: FleetIdentity, session: Session): void {
    const { log } = this.#parts;
    log.warn({ parts: parts.map(({ name }) => name) }, "parts that are away are checked when they are back");
    this.#checkLater(parts, identity, session).catch((error: unknown) => {
      log.error({ err: error }, "a part that was away could not be checked");
      setTimeout(() => this.#catchUp(parts, identity, session), LOOK_EVERY_MS).unref();
    });
  }

  async #checkLater(parts: readonly StampedPart[], identity: FleetIdentity, session: Session): Promise<void> {
    let left = parts;
    while (left.length > 0 && !session.lost.aborted) {
      await pause(LOOK_EVERY_MS, undefined, { signal: session.lost, ref: false }).catch(() => undefined);
      const looked = await this.#look(left);
      if (typeof looked === "string") throw new Error(looked);
      const verdict = judgeTree({ ok: true, identity }, looked.read);
      if (verdict.kind !== "accepted") {
        this.#parts.onForeignPart(verdict.problem);
        return;
      }
      const isBehind = ({ name, part }: LookedPart): boolean =>
        verdict.behind.includes(name) && part.write !== undefined;
      const problem = await this.#stamp(looked.read.filter(isBehind), identity);
      if (problem !== null) throw new Error(problem);
      const done = looked.read.filter((each) => !isBehind(each));
      for (const { part } of done) part.open?.();
      left = left.filter((part) => !done.some((each) => each.part === part));
    }
  }

  #refuse(problem: string): null {
    this.#tell({ kind: "refused", why: "part", problem });
    return null;
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

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
