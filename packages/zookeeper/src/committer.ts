import type { AclOf } from "./acl.ts";
import { Footprint } from "./footprint.ts";
import { allOps, Group, makeMember, MAX_MEMBERS, type Member } from "./group.ts";
import { isSilence, type MultiAnswer, type Op, type Session } from "./port.ts";

/** Order inside a group: an operator's word first, then work that ends, then work that begins. */
export const MOVE_RANKS = ["operator", "commit", "claim"] as const;
export type MoveRank = (typeof MOVE_RANKS)[number];

/** One indivisible change. Its ops are applied together or not at all, whatever else shares their multi. */
export interface Move {
  readonly rank: MoveRank;
  /**
   * Ops that several moves may carry word for word (the check of /fleet/holds, the CAS of /fleet/space). Moves whose
   * shared ops are identical may share a multi, in which they appear once; if one is refused, so are all who carry it.
   */
  readonly shared?: readonly Op[];
  readonly ops: readonly Op[];
}

/** `index` points into [...shared, ...ops] of the move it answers. */
export type MoveAnswer = MultiAnswer;

export interface Committer {
  readonly session: Session;
  submit(move: Move): Promise<MoveAnswer>;
}

export type GroupOutcome = "applied" | "refused" | "silent";

export interface CommitterHooks {
  /** Once per multi sent. */
  readonly onGroup?: (members: number, outcome: GroupOutcome) => void;
}

const MAX_IN_FLIGHT = 4;
/** How far down a queue to look for moves that fit into a group. */
const MAX_LOOK_AHEAD = 200;

/**
 * All writes of a process go through one of these. A lone move is sent in the tick in which it was submitted; under
 * load, moves that wait for a free place travel together.
 */
export function makeCommitter(session: Session, hooks: CommitterHooks = {}): Committer {
  return new GroupingCommitter(session, hooks);
}

class GroupingCommitter implements Committer {
  readonly session: Session;
  readonly #hooks: CommitterHooks;
  readonly #aclOf: AclOf;
  readonly #waiting: Record<MoveRank, Member[]> = { operator: [], commit: [], claim: [] };
  readonly #inFlight = new Set<Group>();
  #largest = MAX_MEMBERS;
  #flushing = false;

  constructor(session: Session, hooks: CommitterHooks) {
    this.session = session;
    this.#hooks = hooks;
    this.#aclOf = (path) => session.aclOf(path);
  }

  submit(move: Move): Promise<MoveAnswer> {
    return new Promise((answer) => {
      this.#waiting[move.rank].push(makeMember(move, this.#aclOf, answer));
      this.#flushSoon();
    });
  }

  /** A microtask, not a timer: what the same tick submits joins, and nobody waits for company. */
  #flushSoon(): void {
    if (this.#flushing) return;
    this.#flushing = true;
    queueMicrotask(() => {
      this.#flushing = false;
      this.#flush();
    });
  }

  #flush(): void {
    while (this.#inFlight.size < MAX_IN_FLIGHT) {
      const group = this.#nextGroup();
      if (group.members.length === 0) return;
      this.#inFlight.add(group);
      void this.session.multi(group.ops()).then((answer) => this.#onAnswer(group, answer));
    }
  }

  /**
   * A move that clashes with one in flight waits for that one's answer, for its group may be refused because of a
   * third; and nothing overtakes a waiting move it clashes with, so an operator's move is not starved by claims.
   */
  #nextGroup(): Group {
    const group = new Group();
    const passedOver = new Footprint();
    for (const rank of MOVE_RANKS) this.#fill(group, this.#waiting[rank], passedOver);
    return group;
  }

  #fill(group: Group, waiting: Member[], passedOver: Footprint): void {
    const left: Member[] = [];
    let looked = 0;
    for (const member of waiting) {
      if (looked >= MAX_LOOK_AHEAD || group.members.length >= this.#largest) break;
      looked += 1;
      if (this.#mayGo(member, passedOver) && group.add(member)) continue;
      passedOver.add(allOps(member.move));
      left.push(member);
    }
    waiting.splice(0, looked, ...left);
  }

  #mayGo(member: Member, passedOver: Footprint): boolean {
    if (allOps(member.move).some((op) => passedOver.clashesWith(op))) return false;
    for (const other of this.#inFlight) if (other.clashesWith(member)) return false;
    return true;
  }

  #onAnswer(group: Group, answer: MultiAnswer): void {
    this.#inFlight.delete(group);
    const { answered, again } = group.verdict(answer);
    this.#learn(group, outcomeOf(answer));
    // From the last: each goes to the front.
    for (const member of again.toReversed()) this.#waiting[member.move.rank].unshift(member);
    for (const [member, itsAnswer] of answered) member.answer(itsAnswer);
    this.#flush();
  }

  /** A refused group costs its other members a round trip: smaller ones cost fewer. */
  #learn(group: Group, outcome: GroupOutcome): void {
    if (outcome === "refused" && group.members.length > 1) this.#largest = Math.max(1, this.#largest >> 1);
    if (outcome === "applied") this.#largest = Math.min(MAX_MEMBERS, this.#largest + 1 + (this.#largest >> 2));
    this.#hooks.onGroup?.(group.members.length, outcome);
  }
}

function outcomeOf(answer: MultiAnswer): GroupOutcome {
  if (answer.ok) return "applied";
  return isSilence(answer.code) ? "silent" : "refused";
}
