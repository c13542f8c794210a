/** Replays a transaction log and checks the invariants of the general queue after every transaction. */
import { BLOCK_IDS } from "../ids.ts";
import { meaningOf, paths } from "../paths.ts";
import type { Guest, Ids } from "../records.ts";
import { isOver } from "../shard/over.ts";
import { isPending } from "../states.ts";
import { guestFindings } from "./guests.ts";
import { type LoggedOp, type LoggedTransaction, type ShardModel, TreeModel } from "./model.ts";
import { parentOf, STEP_RULES } from "./rules.ts";

export interface QueueViolation {
  readonly zxid: bigint;
  readonly invariant: string;
  readonly detail: string;
}

/** `root`: where the tree stands on the server. */
export function checkQueue(history: Iterable<LoggedTransaction>, root = "/"): readonly QueueViolation[] {
  const checker = new Checker();
  for (const transaction of history) {
    const ops = below(transaction.ops, root === "/" ? "" : root);
    if (ops.length > 0) checker.take({ ...transaction, ops });
  }
  return checker.violations;
}

const below = (ops: readonly LoggedOp[], root: string): readonly LoggedOp[] =>
  ops.flatMap((op) =>
    op.path.startsWith(`${root}${paths.root}/`) || op.path === `${root}${RESTORING}`
      ? [{ ...op, path: op.path.slice(root.length) }]
      : [],
  );

/** While it stands in the tree, a snapshot is written there: what the tree was before does not count any more. */
const RESTORING = "/fleet/restoring";

interface ShardView {
  readonly ids: Ids;
  readonly guests: ReadonlyMap<string, Guest>;
  readonly touched: Set<number>;
  readonly made: number[];
}

class Checker {
  readonly violations: QueueViolation[] = [];
  #model = new TreeModel();
  #isRestoring = false;
  #zxid = 0n;

  take({ zxid, timeMs, kind, ops }: LoggedTransaction): void {
    this.#zxid = zxid;
    this.#noteRestore(ops);
    const shards = shardsOf(ops);
    const views = new Map(shards.map((number) => [number, this.#viewOf(number)]));
    if (kind === "write") for (const number of shards) this.#checkFence(number, ops);
    const archived = new Set(ops.flatMap((op) => (isDoneEntry(op) ? [nameOf(op)] : [])));
    for (const op of ops) this.#apply(op, timeMs, archived, views);
    for (const [number, view] of views) {
      const shard = this.#model.shard(number);
      this.#checkTerms(number, shard, view.ids);
      for (const id of view.touched) this.#checkState(shard, id);
      for (const name of archived) this.#checkEnded(shard, name);
      for (const finding of guestFindings(shard, { before: view.guests, nextBefore: view.ids.next, made: view.made }))
        this.#report("Q-19", finding);
    }
  }

  #noteRestore(ops: readonly LoggedOp[]): void {
    for (const { op, path } of ops) {
      if (path !== RESTORING) continue;
      if (op === "create") this.#model = new TreeModel();
      this.#isRestoring = op !== "delete";
    }
  }

  /** What a shard was before the transaction, and what happens in it. */
  #viewOf(number: number): ShardView {
    const { ids, guests } = this.#model.shard(number);
    return { ids, guests: new Map(guests), touched: new Set(), made: [] };
  }

  #apply(op: LoggedOp, timeMs: number, archived: ReadonlySet<string>, views: ReadonlyMap<number, ShardView>): void {
    if (isDoneEntry(op)) this.#checkEntry(op);
    const applied = this.#model.apply(op);
    if (applied.kind === "broken") this.#report("Q-05", `${applied.what}: ${applied.problem}`);
    if (applied.kind !== "job") return;
    const { step, number } = applied;
    const context = { shard: this.#model.shard(number), number, layout: this.#model.layout, timeMs, archived };
    for (const [invariant, rule] of Object.entries(STEP_RULES)) {
      const finding = rule(step, context);
      if (finding !== null) this.#report(invariant, `job ${step.id}: ${finding}`);
    }
    const view = views.get(number);
    const parent = step.after?.parent ?? step.before?.parent;
    view?.touched.add(step.id);
    if (parent !== undefined) view?.touched.add(parent);
    if (step.before === null && step.after !== null) view?.made.push(step.id);
  }

  /** Once for each run, and while it is in its holder's hand. A mocked job may be ended by anybody. */
  #checkEntry(op: LoggedOp): void {
    const meaning = meaningOf(op.path);
    if (meaning.kind !== "done-entry") return;
    const { id, token, shard: number } = meaning;
    const shard = this.#model.shard(number);
    const job = shard.jobs.get(id);
    if (shard.archived.has(nameOf(op))) this.#report("Q-16", `run ${id}-${token} ended twice`);
    shard.archived.add(nameOf(op));
    if (job?.lease?.token !== token && job?.mock !== true)
      this.#report("Q-16", `run ${id}-${token} ended out of nobody's hand`);
  }

  #checkEnded(shard: ShardModel, name: string): void {
    const [id = "", token] = name.split("-");
    if (shard.jobs.get(Number(id))?.lease?.token === token) this.#report("Q-16", `run ${name} goes on after its end`);
  }

  /** Every change of a shard is its owner's, in order, or a takeover, or the making of the frame. */
  #checkFence(number: number, ops: readonly LoggedOp[]): void {
    const inside = ops.filter((op) => op.op !== "check" && op.path.startsWith(`${paths.shard(number)}/`));
    if (inside.length === 0 || ops.some((op) => op.op === "create" && op.path === paths.shard(number))) return;
    const made = ops.flatMap((op) => (op.op === "create" ? [meaningOf(op.path)] : []));
    if (made.some((meaning) => meaning.kind === "term" && meaning.shard === number)) return;
    if (inside.every((op) => isLeft(op, ops))) return;
    const shard = this.#model.shard(number);
    const [term = 0] = shard.terms;
    const counted = ops.find((op) => op.op === "set" && op.path === paths.counter(number, term));
    const checked = ops.some((op) => op.op === "check" && op.path === paths.term(number, term));
    if (!checked || counted?.op !== "set") {
      this.#report("Q-02", `${inside[0]?.path ?? ""} written outside of a term`);
    } else if (inside.length === 1) {
      this.#report("Q-17", `a transaction of shard ${number} that changes nothing`);
    } else if (counted.version !== (shard.counters.get(term) ?? 0) + 1) {
      this.#report("Q-02", `the counter of term ${term} went to ${counted.version}`);
    }
  }

  #checkTerms(number: number, shard: ShardModel, before: Ids): void {
    if (shard.terms.size > 1) this.#report("Q-01", `shard ${number} has ${shard.terms.size} terms`);
    for (const term of shard.terms) {
      if (term !== shard.ids.term)
        this.#report("Q-01", `shard ${number}: term ${term}, but ${shard.ids.term} in its ids`);
    }
    if (shard.ids.next < before.next || shard.ids.term < before.term)
      this.#report("Q-03", `the ids of shard ${number} went back`);
    for (const [block, count] of shard.blocks) {
      if (count > BLOCK_IDS) this.#report("Q-05", `block ${block} has ${count} jobs`);
    }
  }

  #checkState(shard: ShardModel, id: number): void {
    const job = shard.jobs.get(id);
    if (job === undefined) return;
    if ((job.dataNode === true) !== shard.data.has(id))
      this.#report("Q-05", `job ${id}: its data is not where it says`);
    if (job.state !== "PAUSED" || job.gate !== undefined) return;
    if ((job.phase ?? 0) < 1) this.#report("Q-11", `job ${id} waits in phase 0`);
    const children = [...(shard.children.get(id) ?? [])].flatMap((child) => shard.jobs.get(child) ?? []);
    const pending = children.some(
      (child) => isPending(child.state) && !isOver(child, parentOf(shard, child), shard.groups),
    );
    if (!pending) this.#report("Q-11", `job ${id} waits for nobody`);
  }

  #report(invariant: string, detail: string): void {
    if (!this.#isRestoring) this.violations.push({ zxid: this.#zxid, invariant, detail });
  }
}

function shardsOf(ops: readonly LoggedOp[]): readonly number[] {
  const numbers = ops.flatMap((op) => {
    const meaning = meaningOf(op.path);
    return "shard" in meaning ? [meaning.shard] : [];
  });
  return [...new Set(numbers)];
}

const nameOf = (op: LoggedOp): string => op.path.slice(op.path.lastIndexOf("/") + 1);
const isDoneEntry = (op: LoggedOp): boolean => op.op === "create" && meaningOf(op.path).kind === "done-entry";

/** The counter of a term that was never used goes with it: its shard could not be loaded. */
function isLeft({ op, path }: LoggedOp, ops: readonly LoggedOp[]): boolean {
  const meaning = meaningOf(path);
  if (op !== "delete" || meaning.kind !== "counter") return false;
  const term = paths.term(meaning.shard, meaning.term);
  return ops.some((other) => other.op === "delete" && other.path === term);
}
