/**
 * Replays a transaction log and checks the invariants of the queue after every transaction. Incremental: a rule looks
 * only at the jobs and batches that a transaction touched, so the cost grows with the log, not with the tree.
 */
import { jobRow, meaningOf, paths, STAGES, type Stage } from "@sluice/queue-core";
import { hex, readTransactions } from "../transaction-log.ts";
import { isUnder, type LoggedOp, type Transaction } from "../transaction.ts";
import { BATCH_RULES } from "./batch-rules.ts";
import { JOB_HISTORY_RULES } from "./job-history-rules.ts";
import { JOB_MOVE_RULES } from "./job-move-rules.ts";
import { JOB_STATE_RULES } from "./job-state-rules.ts";
import { QueueModel } from "./model.ts";
import { type Finding, type InvariantId, type InvariantName, nameOf } from "./names.ts";
import { BATCH_OWNER_RULES, JOB_OWNER_RULES } from "./owner-rules.ts";
import { oversize } from "./size-rule.ts";
import type { Author, BatchChange, JobChange, JobView, Role } from "./views.ts";

export interface Violation {
  readonly zxid: bigint;
  readonly invariant: InvariantName;
  /** Which job or batch, and how. */
  readonly detail: string;
}

export interface CheckOptions {
  /** Where the queue's tree stands on the server: a test's chroot. Default "/". */
  readonly root?: string;
  /** Of sessions whose role their worker node does not tell. */
  readonly roles?: ReadonlyMap<bigint, Role>;
  /** The log ends with all work done: no lock may be left. */
  readonly atRest?: boolean;
  /**
   * Sessions of a program with CDL's library, and the stage that it has. Without transactions a job is in no order while it has
   * it locked: what it did is judged when it lets go, as one move. What it writes without a lock is judged like any other.
   */
  readonly beside?: ReadonlyMap<bigint, Stage>;
}

export interface CheckResult {
  /** How many transactions touched the tree. */
  readonly transactions: number;
  readonly violations: readonly Violation[];
}

export const checkInvariants = (options: CheckOptions & { readonly logDir: string }): CheckResult =>
  checkTransactions(() => readTransactions(options.logDir, options.root), options);

/** `history` is gone through twice: a session may write before it registers the worker that tells its role. */
export function checkTransactions(history: () => Iterable<Transaction>, options: CheckOptions = {}): CheckResult {
  const root = options.root ?? "/";
  const given = [...(options.roles ?? [])].map(([session, role]) => [session, new Set([role])] as const);
  const roles = new Map([...rolesIn(history(), root), ...given]);
  const checker = new Checker(roles, options.beside ?? new Map());
  for (const transaction of history()) checker.take(below(transaction, root));
  if (options.atRest === true) checker.checkRest();
  return { transactions: checker.transactions, violations: checker.violations };
}

export const describeViolation = ({ zxid, invariant, detail }: Violation): string =>
  `zxid ${hex(zxid)}: ${invariant}: ${detail}`;

/** Only what happened below the root, in paths as its clients see them. */
function below(transaction: Transaction, root: string): Transaction {
  if (root === "/") return transaction;
  const ops = transaction.ops.flatMap((op): LoggedOp[] =>
    isUnder(op.path, root) ? [{ ...op, path: op.path.slice(root.length) || "/" }] : [],
  );
  return { ...transaction, ops };
}

/** A stage-api claims in one session for workers of several stages: it has the roles of all of them. */
function rolesIn(history: Iterable<Transaction>, root: string): Map<bigint, Set<Role>> {
  const roles = new Map<bigint, Set<Role>>();
  for (const { session, ops } of history) {
    for (const op of ops) {
      if (op.op !== "create" || !op.ephemeral || !isUnder(op.path, root)) continue;
      const meaning = meaningOf(root === "/" ? op.path : op.path.slice(root.length));
      if (meaning.kind !== "worker" || !isStage(meaning.stage)) continue;
      roles.set(session, (roles.get(session) ?? new Set()).add(meaning.stage));
    }
  }
  return roles;
}

const isStage = (name: string): name is Stage => STAGES.some((stage) => stage === name);

type Rules<Change> = readonly (readonly [InvariantId, (change: Change) => Finding])[];

const rulesOf = <Change>(...tables: Partial<Record<InvariantId, (change: Change) => Finding>>[]): Rules<Change> =>
  tables.flatMap((table) => Object.entries(table) as [InvariantId, (change: Change) => Finding][]);

const JOB_RULES: Rules<JobChange> = rulesOf(JOB_STATE_RULES, JOB_MOVE_RULES, JOB_HISTORY_RULES, JOB_OWNER_RULES);
const ALL_BATCH_RULES: Rules<BatchChange> = rulesOf(BATCH_RULES, BATCH_OWNER_RULES);

/** What the library cannot keep: it has no fence, no transactions, no history and no callbacks. */
const NOT_BESIDE: ReadonlySet<InvariantId> = new Set(["I-18", "I-19", "I-20", "I-21", "L-02", "L-03", "L-04"]);
const BESIDE_RULES = JOB_RULES.filter(([invariant]) => !NOT_BESIDE.has(invariant));

const PARTIAL_MARKERS = new Set<string>([paths.importing, paths.restoring]);

class Checker {
  transactions = 0;
  readonly violations: Violation[] = [];
  private readonly model = new QueueModel();
  private readonly roles: ReadonlyMap<bigint, ReadonlySet<Role>>;
  private readonly closed = new Set<bigint>();
  /** What is broken just now, by rule: a fault that stays is told once, not at every transaction that touches the job. */
  private readonly broken = new Map<string, ReadonlyMap<number, string>>();
  private lastZxid = 0n;
  /** A tree that is being imported or restored is judged when it is whole: nobody works on it before. */
  private isPartial = false;

  private readonly beside: ReadonlyMap<bigint, Stage>;
  /** Jobs that a program beside the fleet has locked, as they were when it took them. */
  private readonly inItsHands = new Map<string, JobView>();

  constructor(roles: ReadonlyMap<bigint, ReadonlySet<Role>>, beside: ReadonlyMap<bigint, Stage>) {
    this.roles = roles;
    this.beside = beside;
  }

  take(transaction: Transaction): void {
    const { zxid, session, ops, kind } = transaction;
    this.lastZxid = zxid;
    if (kind === "write" && ops.length > 0 && this.closed.has(session)) {
      this.report("L-01", `session 0x${session.toString(16)} wrote ${ops[0]?.path ?? ""} after its end`);
    }
    if (kind === "close-session") this.closed.add(session);
    if (kind === "create-session") this.closed.delete(session);
    if (ops.length === 0) return;
    this.transactions += 1;
    this.model.begin();
    for (const op of ops) this.model.apply(op, { session, zxid });
    this.model.finish(session);
    if (!this.isWhole(ops)) return;
    const size = oversize(ops, this.model.depth);
    if (size !== null) this.report("I-38", size);
    const { audits, callbacks } = this.model;
    const orders = this.model.orderedBy(session);
    const [role = "operator"] = this.roles.get(session) ?? [];
    this.checkTouched({ zxid, session, role, audits, orders, callbacks });
  }

  /** With the role in which it may have moved a job that was in that state. */
  private authorOf(author: Author, { status }: JobView): Author {
    const owner = status === null ? null : jobRow(status.status).owner;
    return owner !== null && this.roles.get(author.session)?.has(owner) === true ? { ...author, role: owner } : author;
  }

  private isWhole(ops: readonly LoggedOp[]): boolean {
    for (const { op, path } of ops) if (PARTIAL_MARKERS.has(path)) this.isPartial = op !== "delete";
    return !this.isPartial;
  }

  checkRest(): void {
    const places = [...this.model.jobs.values(), ...this.model.batches.values()];
    for (const { id, lock } of places) {
      if (lock !== null) this.report("I-22", `${id}: still locked by session 0x${lock.owner.toString(16)} at rest`);
    }
  }

  private checkTouched(author: Author): void {
    const { model } = this;
    const { holds } = model;
    for (const [id, before] of model.touchedJobs) {
      const after = model.job(id);
      const batch = after.batch === null ? null : (model.batches.get(after.batch) ?? null);
      const batchBefore = after.batch === null ? null : (model.touchedBatches.get(after.batch) ?? batch);
      const by = this.authorOf(author, before);
      const change = { before, after, batch, batchBefore, wrote: model.wrote(id), author: by, holds };
      if (!this.isBeside(change)) this.run(JOB_RULES, id, change);
    }
    for (const [id, before] of model.touchedBatches) {
      const after = model.batches.get(id);
      if (after !== undefined) this.run(ALL_BATCH_RULES, id, { before, after, wrote: model.wrote(id), author, holds });
    }
  }

  /** Under its lock nothing is judged; when the lock goes, all that happened under it is, as its stage's one move. */
  private isBeside(change: JobChange): boolean {
    const { before, after, author } = change;
    if (after.lock !== null && this.beside.has(after.lock.owner)) {
      if (!this.inItsHands.has(after.id)) this.inItsHands.set(after.id, before);
      return true;
    }
    const role = before.lock === null ? undefined : this.beside.get(before.lock.owner);
    if (role === undefined) return false;
    const taken = this.inItsHands.get(after.id) ?? before;
    this.inItsHands.delete(after.id);
    this.run(BESIDE_RULES, after.id, { ...change, before: taken, author: { ...author, role } });
    return true;
  }

  private run<Change>(rules: Rules<Change>, entity: string, change: Change): void {
    const known = this.broken.get(entity);
    const found = new Map<number, string>();
    rules.forEach(([invariant, rule], index) => {
      const finding = rule(change);
      if (finding === null) return;
      found.set(index, finding);
      if (known?.get(index) !== finding) this.report(invariant, `${entity}: ${finding}`);
    });
    if (found.size > 0) this.broken.set(entity, found);
    else if (known !== undefined) this.broken.delete(entity);
  }

  private report(invariant: InvariantId, detail: string): void {
    this.violations.push({ zxid: this.lastZxid, invariant: nameOf(invariant), detail });
  }
}
