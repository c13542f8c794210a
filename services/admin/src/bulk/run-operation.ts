/** Carries bulk operations out, a slice at a time. Whoever is killed in the middle is followed by another, at the next job. */
import {
  type BulkException,
  type BulkProgress,
  type BulkTally,
  forgetOperations,
  formatTimestamp,
  type JobId,
  type JobOrder,
  operationOp,
  type OperationRecord,
  type Operator,
  orderJobs,
  paths,
  type ReadOperation,
  readOperation,
  readOperationJobs,
  saveOperation,
} from "@sluice/queue-core";
import { consumed, type Inbox, type InboxContext, type InboxOutcome, retry } from "@sluice/stage-runtime";

/** Selected and reported at a time. How far it is, is written with every group of jobs that moves. */
const SLICE = 100;
const REASONS_MAX = 50;
const GONE = "there is no such job any more";

export interface OperationHooks {
  /** Done, stopped, failed; resumed: taken up after whoever had it before was gone. */
  readonly onState: (state: "done" | "stopped" | "failed" | "resumed") => void;
  /** Jobs have moved. */
  readonly onProgress: () => void;
}

export const bulkInbox = (hooks: OperationHooks): Inbox => ({
  kind: "inbox",
  name: "bulk operations",
  path: paths.dueOperations,
  exclusive: true,
  // Operators order things while the queue is paused, too.
  pausable: false,
  handle: ({ name }, ctx) => runOperation(name, ctx, hooks),
});

async function runOperation(id: string, ctx: InboxContext, hooks: OperationHooks): Promise<InboxOutcome> {
  const found = await readOperation(ctx.queue.session, id);
  if (found === null) return LOST;
  if (found === "none" || found.record.state !== "running") return consumed;
  const order = orderOf(found.record);
  const jobs = await readOperationJobs(ctx.queue.session, id);
  if (jobs === null) return LOST;
  // Whoever had it before and still thinks so is outdated by this.
  const taken = await saveOperation(ctx.queue, found, { ...found.record, runs: found.record.runs + 1 });
  if (typeof taken === "string") return LOST;
  if (taken.record.runs > 1) {
    ctx.log.warn({ operation: id, next: taken.record.next, total: jobs.length }, "a bulk operation is taken up again");
    hooks.onState("resumed");
  }
  const ended = order === null ? await fail(ctx, taken) : await new Run(ctx, hooks, order, jobs, taken).run();
  if (ended === null) return LOST;
  ctx.log.info(
    { operation: id, state: ended.state, applied: ended.applied, total: ended.total, actor: ended.by },
    "a bulk operation is over",
  );
  if (ended.state !== "running") hooks.onState(ended.state);
  await forgetOperations(ctx.queue);
  return consumed;
}

const LOST = retry("UNEXPECTED", "ZooKeeper was lost in the middle", 1_000);

const ACTIONS = ["hold", "release", "fail", "delete"] as const;

/** null: written by another version, which knows more. */
function orderOf({ action, at, priority }: OperationRecord): JobOrder | null {
  if (action === "resume") return at === undefined ? { action } : { action, at };
  if (action === "priority" && priority !== undefined) return { action, priority };
  const plain = ACTIONS.find((each) => each === action);
  return plain === undefined ? null : { action: plain };
}

async function fail(ctx: InboxContext, operation: ReadOperation): Promise<OperationRecord | null> {
  const ended = formatTimestamp(ctx.clock.nowMs());
  const refused = [
    { why: `this version cannot ${operation.record.action}`, count: operation.record.total, example: "" },
  ];
  const record: OperationRecord = { ...operation.record, state: "failed", ended, refused };
  const saved = await saveOperation(ctx.queue, operation, record);
  return typeof saved === "string" ? null : saved.record;
}

class Run {
  readonly #ctx: InboxContext;
  readonly #hooks: OperationHooks;
  readonly #order: JobOrder;
  readonly #jobs: readonly JobId[];
  #now: ReadOperation;

  constructor(
    ctx: InboxContext,
    hooks: OperationHooks,
    order: JobOrder,
    jobs: readonly JobId[],
    operation: ReadOperation,
  ) {
    this.#ctx = ctx;
    this.#hooks = hooks;
    this.#order = order;
    this.#jobs = jobs;
    this.#now = operation;
  }

  /** How it ended; null = this process cannot go on with it. */
  async run(): Promise<OperationRecord | null> {
    while (this.#now.record.next < this.#jobs.length) {
      const slice = this.#jobs.slice(this.#now.record.next, this.#now.record.next + SLICE);
      const turned = await this.#turn(slice);
      if (turned === "lost") return null;
      if (turned === "stopped") return this.#now.record;
      await this.#ctx.failpoint("afterSlice");
    }
    const ended = formatTimestamp(this.#ctx.clock.nowMs());
    const saved = await this.#save({ ...this.#now.record, state: "done", ended });
    return saved === "lost" ? null : this.#now.record;
  }

  async #turn(slice: readonly JobId[]): Promise<Saved> {
    const { record: before } = this.#now;
    const { by, caller, reason, collections } = before;
    const operator: Operator = {
      name: by,
      reason,
      ...(caller === undefined ? {} : { caller }),
      ...(collections === undefined ? {} : { collections }),
    };
    let next = this.#now;
    const tally: BulkTally = {
      ops: (through, progress, exceptions) => {
        const record = counted(before, slice.indexOf(through) + 1, progress, exceptions);
        next = { ...this.#now, record, version: this.#now.version + 1 };
        return [operationOp(this.#now, record)];
      },
      applied: () => (this.#now = next),
    };
    const { signal } = this.#ctx;
    const result = await orderJobs(this.#ctx.queue, operator, this.#order, { ids: slice }, { signal, tally });
    this.#hooks.onProgress();
    if (result.kind === "outdated") return await this.#overtaken();
    if (result.kind !== "finished") return "lost";
    this.#logSlice(slice, result);
    await this.#ctx.failpoint("beforeSave");
    // Those at the end that were all refused moved nothing, and so are not counted yet.
    const record = counted(before, slice.length, result.progress, result.exceptions);
    return record.next === this.#now.record.next ? "saved" : await this.#save(record);
  }

  /** By any job's id its line is found: who ordered what, and why. */
  #logSlice(jobs: readonly JobId[], { progress, exceptions }: Finished): void {
    const { action, by: actor, reason } = this.#now.record;
    const refused = exceptions.map(({ id }) => id);
    this.#ctx.log.info(
      { operation: this.#now.id, action, actor, reason, jobs, applied: progress.done, refused },
      "a bulk operation was carried out on jobs",
    );
  }

  async #save(record: OperationRecord): Promise<Saved> {
    const saved = await saveOperation(this.#ctx.queue, this.#now, record);
    if (saved === "changed") return await this.#overtaken();
    if (saved === "lost") return "lost";
    this.#now = saved;
    return "saved";
  }

  /** Somebody has stopped it: what was done until then stands in the record already. Or somebody else goes on with it. */
  async #overtaken(): Promise<"stopped" | "lost"> {
    const found = await readOperation(this.#ctx.queue.session, this.#now.id);
    if (found === null || found === "none" || found.record.state !== "stopped") return "lost";
    this.#now = found;
    return "stopped";
  }
}

type Saved = "saved" | "stopped" | "lost";
type Finished = Extract<Awaited<ReturnType<typeof orderJobs>>, { readonly kind: "finished" }>;

/** The record after the first `through` jobs of a slice, of which `progress` tells. */
function counted(
  before: OperationRecord,
  through: number,
  { done, refused, conflicts, notFound }: BulkProgress,
  exceptions: readonly BulkException[],
): OperationRecord {
  const met = done + conflicts + notFound + Object.values(refused).reduce((sum, count) => sum + count, 0);
  const gone = through - met;
  return {
    ...before,
    next: before.next + through,
    applied: before.applied + done,
    refused: addRefusals(before.refused, [
      ...exceptions.map(({ id, result }) => ({ why: "why" in result ? result.why : GONE, example: id, count: 1 })),
      ...(gone > 0 ? [{ why: GONE, example: "", count: gone }] : []),
    ]),
  };
}

type Refusals = OperationRecord["refused"];

export function addRefusals(known: Refusals, more: Refusals): Refusals {
  const all = new Map(known.map((each) => [each.why, each]));
  for (const { why, count, example } of more) {
    const key = all.has(why) || all.size < REASONS_MAX ? why : "for other reasons";
    const before = all.get(key);
    all.set(key, { why: key, count: (before?.count ?? 0) + count, example: before?.example ?? example });
  }
  return [...all.values()];
}
