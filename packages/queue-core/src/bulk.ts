/** One order for many jobs, in groups, with progress. Each job's move is atomic; the audit has one record of the order. */
import type { Op } from "@sluice/zookeeper";
import { auditedJobs } from "./audit.ts";
import { type BulkOrder, type Group, type KnownHead, type Member, planMember, sendGroup } from "./bulk-group.ts";
import { type JobFilter, selectJobs } from "./bulk-select.ts";
import type { QueueContext } from "./context.ts";
import { type Holds, readHolds } from "./holds.ts";
import type { BatchId, JobId } from "./ids.ts";
import { cutOperator, type NotApplied, type Operator, TRIES_MAX } from "./operator.ts";
import { type Looked, lookAtJobs } from "./operator-look.ts";
import { type JobOrder, needsHolds } from "./operator-plans.ts";
import { paths } from "./paths.ts";
import { type AuditedJobs, records } from "./records.ts";
import { markDueIfLast } from "./report-gate.ts";

export interface BulkOptions {
  /** As counted before (`countJobs`): if the filter finds another number now, nothing is done. */
  readonly expectedCount?: number;
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: BulkProgress) => void;
  /** With a tally the order is somebody else's, who has it in the audit already. */
  readonly tally?: BulkTally;
}

/** How far it is, written in the very multi that moves a group: who goes on after a crash repeats no job of it. */
export interface BulkTally {
  /** The first is a `set` of data that no other group writes. `through`: the last job of the group; `progress` and `exceptions` count the group as carried out. */
  ops(through: JobId, progress: BulkProgress, exceptions: readonly BulkException[]): readonly Op[];
  /** The last ops asked for were carried out. */
  applied(): void;
}

export interface BulkProgress {
  readonly total: number;
  readonly done: number;
  /** How many were refused, by reason. */
  readonly refused: Readonly<Record<string, number>>;
  /** Changed by others again and again. */
  readonly conflicts: number;
  readonly notFound: number;
}

/** A job that the order did not reach, for the report: the first ones only. */
export interface BulkException {
  readonly id: JobId;
  readonly result: NotApplied;
}

export type BulkResult = (
  | { readonly kind: "finished" }
  | { readonly kind: "aborted" }
  /** The session ended in the middle: what `progress` counts is done, the group after it may be. */
  | { readonly kind: "lost" }
  /** Somebody else has written the tally: what `progress` counts is done, and no more. */
  | { readonly kind: "outdated" }
  | { readonly kind: "unexpected-count"; readonly expected: number }
) & { readonly progress: BulkProgress; readonly exceptions: readonly BulkException[] };

/** A job whose nodes contradict each other is refused however often one looks: it must not hold up its group. */
const BLAMED_MAX = 3;
/** Larger multis stall everybody else's writes; twenty jobs are some 150 ops and 40 KB. */
const GROUP_JOBS = 20;
const EXCEPTIONS_MAX = 100;

export async function orderJobs(
  ctx: QueueContext,
  operator: Operator,
  order: JobOrder,
  filter: JobFilter,
  options: BulkOptions = {},
): Promise<BulkResult> {
  const ids: JobId[] = [];
  for await (const page of selectJobs(ctx.session, filter, { nowMs: ctx.clock.nowMs() })) {
    if (page.kind === "silence") return new Bulk(ctx, { order, who: operator }, options, 0).result("lost");
    for (const { id } of page.jobs) ids.push(id);
  }
  const bulk = new Bulk(ctx, { order, who: cutOperator(operator) }, options, ids.length);
  const { expectedCount } = options;
  if (expectedCount !== undefined && expectedCount !== ids.length) {
    return { kind: "unexpected-count", expected: expectedCount, progress: bulk.progress(), exceptions: [] };
  }
  return bulk.result(await bulk.run(ids));
}

type Ended = "finished" | "aborted" | "lost" | "outdated";

interface Look {
  readonly holds: Holds | null;
  readonly jobs: readonly Looked[];
}

class Bulk {
  readonly #ctx: QueueContext;
  readonly #order: BulkOrder;
  readonly #options: BulkOptions;
  readonly #total: number;
  readonly #refused = new Map<string, number>();
  readonly #exceptions: BulkException[] = [];
  #done = 0;
  #conflicts = 0;
  #notFound = 0;
  /** What is still to be written into the audit. */
  #unwritten: AuditedJobs | null = null;

  constructor(ctx: QueueContext, order: BulkOrder, options: BulkOptions, total: number) {
    this.#ctx = ctx;
    this.#order = order;
    this.#options = options;
    this.#total = total;
  }

  progress(): BulkProgress {
    return {
      total: this.#total,
      done: this.#done,
      refused: Object.fromEntries(this.#refused),
      conflicts: this.#conflicts,
      notFound: this.#notFound,
    };
  }

  result(kind: Ended): BulkResult {
    return { kind, progress: this.progress(), exceptions: this.#exceptions };
  }

  /** While a group is on its way the next one is read: its fences find out if that was too early. */
  async run(ids: readonly JobId[]): Promise<Ended> {
    this.#unwritten = this.#options.tally === undefined && ids.length > 0 ? auditedJobs(ids) : null;
    let ahead = this.#look(ids.slice(0, GROUP_JOBS));
    for (let i = 0; i < ids.length; i += GROUP_JOBS) {
      const look = await ahead;
      if (this.#options.signal?.aborted === true) return "aborted";
      if (look === null) return "lost";
      ahead = this.#look(ids.slice(i + GROUP_JOBS, i + 2 * GROUP_JOBS));
      const settled = await this.#settle(ids.slice(i, i + GROUP_JOBS), look);
      if (settled !== "settled") {
        await ahead;
        return settled;
      }
      this.#options.onProgress?.(this.progress());
    }
    return "finished";
  }

  /** A link that breaks for a moment costs another look; null = the session is lost. */
  async #persist<T>(read: () => Promise<T | null>): Promise<T | null> {
    for (let attempt = 0; attempt < TRIES_MAX; attempt++) {
      const answer = await read();
      if (answer !== null) return answer;
      if (!(await this.#ctx.session.untilConnected())) return null;
    }
    return null;
  }

  #look(ids: readonly JobId[]): Promise<Look | null> {
    return this.#persist(() => this.#lookOnce(ids));
  }

  /** Holds before jobs: a hold that comes later refuses the group. null = no answer. */
  async #lookOnce(ids: readonly JobId[]): Promise<Look | null> {
    const holds = ids.length > 0 && needsHolds(this.#order.order) ? await readHolds(this.#ctx.session) : null;
    if (holds?.ok === false) return null;
    const jobs = await lookAtJobs(this.#ctx.session, ids);
    return jobs === null ? null : { holds: holds?.value ?? null, jobs };
  }

  /** Until every job of the group has its answer. */
  async #settle(group: readonly JobId[], first: Look): Promise<"settled" | "lost" | "outdated"> {
    const blamed = new Map<JobId, number>();
    let left = group;
    let look: Look | null = first;
    for (let attempt = 0; left.length > 0; attempt++) {
      if (look === null) return "lost";
      if (attempt >= TRIES_MAX + group.length) {
        for (const id of left) this.#answer(id, { kind: "conflict", why: "it kept changing" });
        return "settled";
      }
      const { members, holds } = this.#plan(left, look);
      left = members.map(({ id }) => id);
      if (members.length === 0) return "settled";
      const record = await this.#record(members);
      if (record === "lost") return "lost";
      const tally = this.#tally(group, members);
      const sent = await sendGroup(this.#ctx, this.#order, { members, holds, tally, record });
      if (sent.kind === "lost" || sent.kind === "outdated") return sent.kind;
      if (sent.kind === "applied") {
        this.#unwritten = null;
        await this.#applied(members);
        return "settled";
      }
      if (sent.kind === "out") {
        const times = (blamed.get(sent.id) ?? 0) + 1;
        blamed.set(sent.id, times);
        if (times >= BLAMED_MAX) {
          this.#answer(sent.id, { kind: "conflict", why: `its nodes do not fit together (${sent.why}): run fsck` });
          left = left.filter((id) => id !== sent.id);
        }
      }
      // Whatever was refused, a fresh look decides: whom it concerns is refused with a reason, the rest goes on.
      look = await this.#look(left);
    }
    return "settled";
  }

  /** A new priority leaves no trace in a job's history: without a tally each group has a record of its own. */
  async #record(members: readonly Member[]): Promise<Group["record"] | "lost"> {
    const eachGroup = this.#order.order.action === "priority" && this.#options.tally === undefined;
    const jobs = eachGroup ? auditedJobs(members.map(({ id }) => id)) : this.#unwritten;
    if (jobs === null) return null;
    const known = await this.#persist(() => this.#readHead());
    return known === null ? "lost" : { known, jobs };
  }

  #tally(group: readonly JobId[], members: readonly Member[]): readonly Op[] {
    const through = group.at(-1);
    if (through === undefined || this.#options.tally === undefined) return [];
    const progress = { ...this.progress(), done: this.#done + members.length };
    return this.#options.tally.ops(through, progress, this.#exceptions);
  }

  #plan(ids: readonly JobId[], look: Look): { readonly members: readonly Member[]; readonly holds: Holds | null } {
    const nowMs = this.#ctx.clock.nowMs();
    const members: Member[] = [];
    for (const [i, id] of ids.entries()) {
      const looked = look.jobs[i] ?? { kind: "not-found" };
      const planned = planMember(this.#order, id, looked, look.holds, { op: this.#ctx.newId(), nowMs });
      if (planned.kind === "member") members.push(planned.member);
      else this.#answer(id, planned.result);
    }
    return { members, holds: look.holds };
  }

  async #readHead(): Promise<KnownHead | null> {
    const node = await this.#ctx.session.get(paths.auditHead);
    const head = node.ok ? records.auditHead.decode(node.value.data) : null;
    return node.ok && head?.ok === true ? { head: head.value, version: node.value.stat.version } : null;
  }

  async #applied(members: readonly Member[]): Promise<void> {
    this.#done += members.length;
    this.#options.tally?.applied();
    const ended = new Set<BatchId>(members.flatMap(({ ends }) => ends ?? []));
    for (const batch of ended) await markDueIfLast(this.#ctx, batch);
  }

  #answer(id: JobId, result: NotApplied): void {
    if (result.kind === "refused") this.#refused.set(result.why, (this.#refused.get(result.why) ?? 0) + 1);
    if (result.kind === "conflict") this.#conflicts += 1;
    if (result.kind === "not-found") this.#notFound += 1;
    if (this.#exceptions.length < EXCEPTIONS_MAX) this.#exceptions.push({ id, result });
  }
}
