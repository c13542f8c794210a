import type { AclOf } from "./acl.ts";
import type { Move, MoveAnswer } from "./committer.ts";
import { Footprint } from "./footprint.ts";
import { isSilence, type Applied, type MultiAnswer, type Op } from "./port.ts";
import { opBytes } from "./wire/requests.ts";

export const MAX_MEMBERS = 50;
export const MAX_GROUP_BYTES = 256 * 1024;

/** A move on its way. */
export interface Member {
  readonly move: Move;
  readonly shared: readonly { readonly op: Op; readonly key: string }[];
  readonly bytes: number;
  readonly answer: (answer: MoveAnswer) => void;
  /** Set when a whole group was refused and no op was named: who is to blame shows when each goes alone. */
  readonly alone: boolean;
}

export function makeMember(move: Move, aclOf: AclOf, answer: (answer: MoveAnswer) => void): Member {
  const shared = (move.shared ?? []).map((op) => ({ op, key: keyOf(op) }));
  const bytes = allOps(move).reduce((sum, op) => sum + opBytes(op, aclOf), 0);
  return { move, shared, bytes, answer, alone: false };
}

export function allOps(move: Move): readonly Op[] {
  return move.shared === undefined ? move.ops : [...move.shared, ...move.ops];
}

/** The same key, the same op word for word. */
function keyOf(op: Op): string {
  const head = `${op.op} ${op.path.length} ${op.path}`;
  if (op.op === "check" || op.op === "delete") return `${head} ${op.version ?? "any"}`;
  const how = op.op === "create" ? op.ephemeral === true : op.version;
  return `${head} ${how} ${op.data.toString("latin1")}`;
}

/** What a multi's answer means for its members: who has his answer, who is to be sent again. */
export interface Verdict {
  readonly answered: readonly (readonly [Member, MoveAnswer])[];
  readonly again: readonly Member[];
}

/** Moves that travel in one multi: first the ops they share, once each, then each member's own. */
export class Group {
  readonly members: Member[] = [];
  readonly #shared = new Map<string, Op>();
  /** Of all ops, and of those that are not shared. Made when first asked for: a lone move needs neither. */
  #footprints: { readonly everything: Footprint; readonly own: Footprint } | null = null;
  #bytes = 0;

  /** False, and nothing changed, if it does not fit in: for its size, or because it clashes with a member. */
  add(member: Member): boolean {
    if (this.members.length > 0 && !this.#hasRoomFor(member)) return false;
    for (const { key, op } of member.shared) this.#shared.set(key, op);
    this.#footprints?.everything.add(allOps(member.move));
    this.#footprints?.own.add(member.move.ops);
    this.#bytes += member.bytes;
    this.members.push(member);
    return true;
  }

  ops(): Op[] {
    return [...this.#shared.values(), ...this.members.flatMap((member) => member.move.ops)];
  }

  clashesWith(member: Member): boolean {
    const { everything } = this.#footprint();
    return allOps(member.move).some((op) => everything.clashesWith(op));
  }

  verdict(answer: MultiAnswer): Verdict {
    if (answer.ok) return { answered: this.#applied(answer), again: [] };
    if (this.members.length === 1 || isSilence(answer.code)) return this.#alike(answer);
    if (answer.index < 0) return { answered: [], again: this.members.map((each) => ({ ...each, alone: true })) };
    return this.#blame(answer);
  }

  #hasRoomFor(member: Member): boolean {
    if (member.alone || this.members[0]?.alone === true) return false;
    if (this.#bytes + member.bytes > MAX_GROUP_BYTES) return false;
    const { everything, own } = this.#footprint();
    const sharedClash = member.shared.some(({ key, op }) => (this.#shared.has(key) ? own : everything).clashesWith(op));
    return !sharedClash && !member.move.ops.some((op) => everything.clashesWith(op));
  }

  #footprint(): { readonly everything: Footprint; readonly own: Footprint } {
    if (this.#footprints === null) {
      this.#footprints = { everything: new Footprint(), own: new Footprint() };
      for (const { move } of this.members) {
        this.#footprints.everything.add(allOps(move));
        this.#footprints.own.add(move.ops);
      }
    }
    return this.#footprints;
  }

  #applied(answer: Applied): [Member, MoveAnswer][] {
    const keys = [...this.#shared.keys()];
    let at = keys.length;
    return this.members.map((member) => {
      const shared = member.shared.map(({ key }) => answer.stats[keys.indexOf(key)] ?? null);
      const own = answer.stats.slice(at, (at += member.move.ops.length));
      return [member, { ok: true, zxid: answer.zxid, stats: [...shared, ...own] }];
    });
  }

  /** With one member every index is that member's own; silence names none. */
  #alike(answer: MultiAnswer & { readonly ok: false }): Verdict {
    const only = this.members[0];
    if (only === undefined || this.members.length > 1 || answer.index < 0) {
      return { answered: this.members.map((member) => [member, { ...answer, index: -1 }]), again: [] };
    }
    return { answered: [[only, { ...answer, index: this.#indexFor(only, answer.index) }]], again: [] };
  }

  #blame(answer: MultiAnswer & { readonly ok: false }): Verdict {
    const answered: [Member, MoveAnswer][] = [];
    const again: Member[] = [];
    for (const member of this.members) {
      const index = this.#indexFor(member, answer.index);
      if (index < 0) again.push(member);
      else answered.push([member, { ...answer, index }]);
    }
    return { answered, again };
  }

  /** Where the multi's op stands among the member's own ops, or -1 if it is not one of them. */
  #indexFor(member: Member, multiIndex: number): number {
    const sharedKey = [...this.#shared.keys()][multiIndex];
    if (sharedKey !== undefined) return member.shared.findIndex(({ key }) => key === sharedKey);
    let first = this.#shared.size;
    for (const other of this.members) {
      if (other === member) break;
      first += other.move.ops.length;
    }
    const own = multiIndex - first;
    return own >= 0 && own < member.move.ops.length ? member.shared.length + own : -1;
  }
}
