/**
 * The writes of a term, in order. What waits travels together, several transactions are under way at once, each naming
 * the version that the counter will have when it is its turn. So a transaction is applied only after all before it, and
 * the counter's version tells how many were.
 */
import { isSilence, type MultiAnswer, type Op, resolveUnknown, type Session } from "@sluice/zookeeper";
import { GROUP_MEMBERS, IN_FLIGHT, TRANSACTION_BYTES } from "../limits.ts";
import { paths } from "../paths.ts";
import type { RedoLog } from "../redo.ts";
import { fence, type Term } from "./term.ts";

interface Member {
  readonly ops: readonly Op[];
  readonly bytes: number;
  /** Who wants to hear that it is written. */
  readonly listeners: ((written: boolean) => void)[];
  isWritten: boolean;
}

/** One transaction. Its ops stay as they are however often it is sent: a late copy can only do the same. */
interface Group {
  readonly number: number;
  readonly ops: readonly Op[];
  readonly members: readonly Member[];
  answer: MultiAnswer | null;
}

/** How far the tree has the term. */
interface Applied {
  readonly transactions: number;
  readonly zxid: bigint;
}

/** Sent again this often without any of them being applied: something is wrong with the term. */
const MAX_ROUNDS = 20;
/** Far below where a version would run over. */
const MAX_TRANSACTIONS = 2 ** 30;

export interface PipelineHooks {
  readonly onGroup?: (members: number) => void;
  /** Transactions that were found applied, and that were sent again, after an answer was lost. */
  readonly onResolved?: (applied: number, again: number) => void;
}

export class Pipeline {
  readonly #session: Session;
  readonly #term: Term;
  readonly #hooks: PipelineHooks;
  readonly #onOver: (why: string) => void;
  readonly #redo: RedoLog | null;
  #waiting: Member[] = [];
  #sent: Group[] = [];
  #next = 0;
  #recovering = false;
  #rounds = 0;
  #flushing = false;
  #over = false;
  #last: Member | null = null;

  constructor(
    session: Session,
    term: Term,
    onOver: (why: string) => void,
    { redo = null, ...hooks }: PipelineHooks & { readonly redo?: RedoLog | null } = {},
  ) {
    this.#session = session;
    this.#term = term;
    this.#onOver = onOver;
    this.#hooks = hooks;
    this.#redo = redo;
  }

  write(ops: readonly Op[]): void {
    if (this.#over) return;
    this.#last = { ops, bytes: sizeOf(ops), listeners: [], isWritten: false };
    this.#waiting.push(this.#last);
    this.#flushSoon();
  }

  /**
   * When everything that was given to it so far is in the tree, and in the redo log: true. False when the term is over: then it may or may not be.
   * A call and no promise, because every command has one: who wants a promise makes it.
   */
  whenWritten(listener: (written: boolean) => void): void {
    if (this.#over) listener(false);
    else if (this.#last === null || this.#last.isWritten) listener(true);
    else this.#last.listeners.push(listener);
  }

  written(): Promise<boolean> {
    return new Promise((resolve) => this.whenWritten(resolve));
  }

  /** Nothing more is sent, and what is open is answered. */
  end(why: string): void {
    if (this.#over) return;
    this.#over = true;
    const open = [...this.#sent.flatMap(({ members }) => members), ...this.#waiting];
    this.#sent = [];
    this.#waiting = [];
    for (const { listeners } of open) for (const listener of listeners) listener(false);
    this.#onOver(why);
  }

  /** A microtask: what is decided in the same tick travels together, and nobody waits for company. */
  #flushSoon(): void {
    if (this.#flushing) return;
    this.#flushing = true;
    queueMicrotask(() => {
      this.#flushing = false;
      this.#flush();
    });
  }

  #flush(): void {
    while (!this.#over && !this.#recovering && this.#sent.length < IN_FLIGHT && this.#waiting.length > 0) {
      if (this.#next >= MAX_TRANSACTIONS) {
        this.end("the term has grown too long");
        return;
      }
      const members = this.#takeMembers();
      const ops = [...fence(this.#term, this.#next), ...members.flatMap((member) => member.ops)];
      const group: Group = { number: this.#next, ops, members, answer: null };
      this.#next += 1;
      this.#sent.push(group);
      this.#hooks.onGroup?.(members.length);
      this.#send(group);
    }
  }

  #takeMembers(): readonly Member[] {
    let bytes = 0;
    let count = 0;
    for (const member of this.#waiting) {
      bytes += member.bytes;
      if (count === GROUP_MEMBERS || (count > 0 && bytes > TRANSACTION_BYTES)) break;
      count += 1;
    }
    return this.#waiting.splice(0, count);
  }

  #send(group: Group): void {
    group.answer = null;
    this.#session
      .multi(group.ops)
      .then((answer) => {
        if (this.#over) return;
        group.answer = answer;
        if (answer.ok && !this.#recovering) this.#settleFirst();
        else this.#recover();
      })
      .catch((error: unknown) => this.end(`an answer could not be settled: ${String(error)}`));
  }

  /** Answers come in the order of the sending; one that is applied proves all before it. */
  #settleFirst(): void {
    for (let [first] = this.#sent; first?.answer?.ok === true; [first] = this.#sent) {
      this.#sent.shift();
      this.#settle(first, first.answer.zxid);
    }
    this.#rounds = 0;
    this.#flush();
  }

  #settle({ number, members }: Group, zxid: bigint): void {
    if (this.#redo === null) {
      tellWritten(members);
      return;
    }
    const { shard, term } = this.#term;
    const ops = members.flatMap((member) => member.ops);
    this.#redo
      .keep({ shard, term, number, zxid, ops })
      .then(() => tellWritten(members))
      .catch((error: unknown) => this.end(`what was written cannot be told: ${String(error)}`));
  }

  /** Nothing more is sent until everything that was has its answer: then the counter says how much of it counts. */
  #recover(): void {
    this.#recovering = true;
    if (this.#sent.some(({ answer }) => answer === null)) return;
    this.#look()
      .then((applied) => {
        if (applied !== null && !this.#over) this.#goOn(applied);
      })
      .catch((error: unknown) => this.end(`what was written cannot be found out: ${String(error)}`));
  }

  /** Null: the term is over. */
  async #look(): Promise<Applied | null> {
    const { shard, term } = this.#term;
    const reads = [{ get: paths.term(shard, term) }, { get: paths.counter(shard, term) }];
    const seen = await resolveUnknown(this.#session, (same) => same.readMany(reads));
    if (!seen.ok) {
      this.end(`the session is ${seen.why}`);
      return null;
    }
    const [owner, counter] = seen.value;
    if (owner?.kind !== "node" || counter?.kind !== "node") {
      this.end("deposed");
      return null;
    }
    const { version, mzxid } = counter.node.stat;
    return { transactions: version, zxid: mzxid };
  }

  #goOn({ transactions: applied, zxid }: Applied): void {
    const known = this.#sent.filter(({ number }) => number < applied);
    const rest = this.#sent.filter(({ number }) => number >= applied);
    // One zxid for all: those without an answer have none of their own, and their order is that of their numbers.
    for (const group of known) this.#settle(group, zxid);
    const [first] = rest;
    if (first?.answer?.ok === false && isRefusal(first.answer)) {
      this.end(`refused: ${first.answer.code} ${first.answer.detail}`);
      return;
    }
    this.#rounds = known.length > 0 ? 0 : this.#rounds + 1;
    if (this.#rounds > MAX_ROUNDS) {
      this.end("nothing is applied any more");
      return;
    }
    this.#hooks.onResolved?.(known.length, rest.length);
    this.#sent = rest;
    this.#recovering = false;
    for (const group of rest) this.#send(group);
    this.#flush();
  }
}

function tellWritten(members: readonly Member[]): void {
  for (const member of members) {
    member.isWritten = true;
    for (const listener of member.listeners) listener(true);
  }
}

/** Of its own ops, not of the fence: that one also fails behind a transaction that was lost. */
const isRefusal = (answer: MultiAnswer & { readonly ok: false }): boolean =>
  !isSilence(answer.code) && answer.index > 1;

const OP_OVERHEAD = 60;
export function sizeOf(ops: readonly Op[]): number {
  let bytes = 0;
  for (const op of ops)
    bytes += op.path.length + OP_OVERHEAD + (op.op === "create" || op.op === "set" ? op.data.length : 0);
  return bytes;
}
