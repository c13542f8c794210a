/**
 * What the picks of all processes have cost, as charges for the scheduler of this one. The owner of a tenant's shard knows
 * all its runs; what it has told may be older than our last picks, so these are counted beside it until it has told of them.
 */
import type { TenantUsage } from "@sluice/job-queue";

interface Account {
  /** The term in which its owner counts: another one counts from nothing. */
  readonly term: string;
  /** Runs that others began, as far as we know. */
  others: number;
  /** Runs that we began. */
  own: number;
  /** Jobs that we have picked and have no answer for. */
  asked: number;
  /** What has been charged. */
  charged: number;
  meanMs: number;
}

/** More accounts than tenants that wait, by this many: those of the others go. */
const KEPT = 1_000;

export class Charges {
  readonly #accounts = new Map<string, Account>();

  /** What the tenant is to be charged besides what it has been: negative if that was too much. */
  due(term: string, usage: TenantUsage): number {
    const account = this.#accounts.get(usage.tenant);
    if (account?.term !== term || usage.started < account.others) {
      this.#open(term, usage);
      return 0;
    }
    account.meanMs = usage.meanMs;
    account.others = Math.max(account.others, usage.started - account.own - account.asked);
    const cost = costOf(usage, account.others + account.own + account.asked);
    const due = cost - account.charged;
    account.charged = cost;
    return due;
  }

  /** What a job of this tenant is charged when it is picked. */
  meanOf(tenant: string): number | null {
    return this.#accounts.get(tenant)?.meanMs ?? null;
  }

  /** The scheduler has charged it for one job. */
  picked(tenant: string): void {
    const account = this.#accounts.get(tenant);
    if (account === undefined) return;
    account.asked += 1;
    account.charged += account.meanMs;
  }

  /** The owner has been asked for what was picked, and gave so many. */
  answered(term: string, tenant: string, picked: number, given: number): void {
    const account = this.#accounts.get(tenant);
    if (account?.term !== term) return;
    account.asked = Math.max(0, account.asked - picked);
    account.own += given;
  }

  forget(waiting: ReadonlyMap<string, unknown>): void {
    if (this.#accounts.size < 2 * waiting.size + KEPT) return;
    for (const tenant of [...this.#accounts.keys()]) if (!waiting.has(tenant)) this.#accounts.delete(tenant);
  }

  /** What was before we heard of it is not charged. */
  #open(term: string, usage: TenantUsage): void {
    const { tenant, started, meanMs } = usage;
    this.#accounts.set(tenant, { term, others: started, own: 0, asked: 0, charged: costOf(usage, started), meanMs });
  }
}

/** A run that is under way costs what is expected of it, or what it has taken if that is more. */
function costOf({ started, running, endedMs, runningMs, meanMs }: TenantUsage, presumed: number): number {
  const untold = Math.max(0, presumed - started);
  return endedMs + Math.max(running * meanMs, runningMs) + untold * meanMs;
}
