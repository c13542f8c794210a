/** Jobs for who serves several tenants or types: each tenant has its turn, then each of its types. */
import {
  AGED_MS,
  type Answer,
  type Caller,
  type Command,
  EXPECTED_MS,
  FairScheduler,
  giveBack,
  matchesName,
  type NameMatch,
  parseNames,
  type QueuePort,
  type TakenView,
  type TenantUsage,
  typeKey,
  type WaitingType,
} from "@sluice/job-queue";
import type { Clock } from "@sluice/zookeeper";
import type { Changes } from "../changes.ts";
import type { Board } from "./board.ts";
import { Charges } from "./charges.ts";

export interface Take {
  readonly worker: string;
  readonly tenants: "all" | readonly string[];
  /** Of all tenants, these not. */
  readonly without?: readonly string[];
  /** Patterns; all types unless given. */
  readonly types?: readonly string[];
  /** What else is not theirs. */
  readonly accepts?: (tenant: string, type: string) => boolean;
  readonly limit: number;
  readonly waitMs: number;
  readonly gone: AbortSignal;
  /** How long the jobs may stay silent; the usual time unless given. */
  readonly leaseMs?: number;
}

export interface TakenJob extends TakenView {
  readonly tenant: string;
  readonly token: string;
}

export interface Waiting {
  readonly shard: number;
  readonly type: WaitingType;
}

export interface HeardUsage {
  /** The term whose owner says so. */
  readonly term: string;
  readonly usage: TenantUsage;
}

export interface Wanted {
  /** Of each tenant. */
  readonly most: number;
  /** What is due since before goes first inside its tenant. */
  readonly agedBefore: number;
  readonly isWanted: (shard: number, type: WaitingType) => boolean;
}

export interface TakePorts {
  readonly clock: Clock;
  readonly queue: QueuePort;
  readonly board: Board;
  /** Told when something new may be due. */
  readonly due: Changes;
  /** Of each tenant those whose turn it is. */
  readonly waiting: (wanted: Wanted) => readonly Waiting[];
  /** What a tenant's jobs have cost, as the owner of its shard says; null: it has not said it. */
  readonly usageOf: (shard: number, tenant: string) => HeardUsage | null;
  readonly ask: (shard: number, command: Command) => Promise<Answer>;
}

interface Planned {
  readonly shard: number;
  /** Whose count of the tenant's runs it belongs to. */
  readonly term: string;
  readonly type: WaitingType;
  count: number;
}

/** Nobody waits longer for a word that was lost. */
const LOOK_AGAIN_MS = 5_000;

export class Taker {
  readonly #ports: TakePorts;
  readonly #scheduler: FairScheduler;
  readonly #charges = new Charges();
  readonly #areTypesWeighted: boolean;
  waiters = 0;
  isStopped = false;

  /** `areTypesWeighted`: then a type's turn is not simply after those of all others, and all must be looked at. */
  constructor(ports: TakePorts, scheduler: FairScheduler, areTypesWeighted = false) {
    this.#ports = ports;
    this.#scheduler = scheduler;
    this.#areTypesWeighted = areTypesWeighted;
  }

  async take(asked: Take): Promise<readonly TakenJob[]> {
    const { clock, board, due } = this.#ports;
    const deadline = clock.monotonicMs() + asked.waitMs;
    const types = asked.types?.map((pattern) => parseNames(pattern)) ?? null;
    this.waiters += 1;
    try {
      for (;;) {
        const plan = this.#plan(asked, types);
        const jobs = plan.length === 0 ? [] : await this.#carryOut(plan, asked);
        const now = clock.monotonicMs();
        if (jobs.length > 0 || asked.gone.aborted) return jobs;
        // What was planned and not there: the next in turn.
        if (plan.length > 0) continue;
        if (this.isStopped || now >= deadline) return [];
        const belief = board.nextBelief(now) ?? Infinity;
        await due.next(Math.max(1, Math.min(deadline - now, belief - now, LOOK_AGAIN_MS)), asked.gone);
      }
    } finally {
      this.waiters -= 1;
    }
  }

  /** One pick for each job, then one request for each type. */
  #plan({ tenants, without = [], accepts, limit }: Take, types: readonly NameMatch[] | null): readonly Planned[] {
    const { clock, board, waiting } = this.#ports;
    const now = clock.monotonicMs();
    const isWanted = ({ tenant, name }: WaitingType): boolean =>
      (tenants === "all" ? !without.includes(tenant) : tenants.includes(tenant)) &&
      (types === null || types.some((each) => matchesName(each, name))) &&
      accepts?.(tenant, name) !== false;
    const left = new Map<string, { readonly shard: number; type: WaitingType }>();
    const wanted: Wanted = {
      most: this.#areTypesWeighted ? Infinity : limit,
      agedBefore: clock.nowMs() - AGED_MS,
      isWanted: (shard, type) => isWanted(type) && board.left(shard, type, now) > 0,
    };
    for (const { shard, type } of waiting(wanted)) {
      const count = board.left(shard, type, now);
      if (count > 0) left.set(typeKey(type.tenant, type.name), { shard, type: { ...type, count } });
    }
    const terms = this.#charge(left.values());
    const plan = new Map<string, Planned>();
    for (let n = 0; n < limit && left.size > 0; n++) {
      const picked = this.#scheduler.pick(
        [...left.values()].map(({ type }) => type),
        clock.nowMs(),
        (tenant) => this.#charges.meanOf(tenant) ?? EXPECTED_MS,
      );
      if (picked === null) break;
      this.#charges.picked(picked.tenant);
      const key = typeKey(picked.tenant, picked.name);
      const of = left.get(key);
      if (of === undefined) break;
      const planned = plan.get(key);
      if (planned === undefined)
        plan.set(key, { shard: of.shard, term: terms.get(picked.tenant) ?? "", type: picked, count: 1 });
      else planned.count += 1;
      if (picked.count > 1) of.type = { ...picked, count: picked.count - 1 };
      else left.delete(key);
    }
    return [...plan.values()];
  }

  /** Whose jobs cost more than was thought comes later. Answers who counts each tenant's runs. */
  #charge(left: Iterable<Waiting>): ReadonlyMap<string, string> {
    const terms = new Map<string, string>();
    for (const { shard, type } of left) {
      if (terms.has(type.tenant)) continue;
      const heard = this.#ports.usageOf(shard, type.tenant);
      terms.set(type.tenant, heard?.term ?? "");
      if (heard !== null) this.#scheduler.charge(type.tenant, this.#charges.due(heard.term, heard.usage));
    }
    this.#charges.forget(terms);
    return terms;
  }

  async #carryOut(plan: readonly Planned[], asked: Take): Promise<readonly TakenJob[]> {
    for (const { shard, type, count } of plan) this.#ports.board.promise(shard, type, count);
    const got = await Promise.all(plan.map((planned) => this.#get(planned, asked)));
    return got.flat();
  }

  async #get({ shard, term, type, count }: Planned, { worker, leaseMs, gone }: Take): Promise<readonly TakenJob[]> {
    const { ask, board, clock, queue } = this.#ports;
    const { tenant, name } = type;
    const caller: Caller = { kind: "worker", worker };
    const answer = await ask(shard, {
      verb: "GetJobs",
      wanted: { tenant, names: { kind: "names", names: new Set([name]) }, priority: null, mocked: false },
      limit: count,
      single: false,
      caller,
      leaseMs: leaseMs ?? null,
    });
    board.promise(shard, type, -count);
    const jobs = answer?.content.kind === "taken" ? answer.content.jobs : [];
    board.took(shard, type, jobs.length);
    this.#charges.answered(term, tenant, count, jobs.length);
    if (jobs.length < count) board.markEmpty(shard, type, clock.monotonicMs());
    if (gone.aborted) {
      await giveBack(queue, tenant, answer);
      return [];
    }
    return jobs.map(({ view, token }) => ({ ...view, tenant, token }));
  }
}
