/** What a router offers. */
import type { Answer, Command, QueuePort, TenantUsage } from "@sluice/job-queue";
import type { Outcome } from "./outcome.ts";
import type { SeatState } from "./seats/seat.ts";
import type { Take, TakenJob } from "./take/take.ts";

export interface ShardView {
  readonly shard: number;
  /** "" for the first one. */
  readonly ensemble: string;
  readonly state: SeatState;
  /** The process that owns it. */
  readonly owner: string | null;
  readonly term: number | null;
  /** Jobs in it, if it is ours. */
  readonly jobs: number | null;
}

export interface RouterStats {
  readonly shardsOwned: number;
  readonly waiters: number;
  /** Records that cannot be read, of the shards that are ours. */
  readonly quarantined: number;
  /** Ended runs of our shards that are still in the tree. */
  readonly endedInTree: number;
}

/** Jobs of one type that could run now. */
export interface ReadyType {
  readonly tenant: string;
  readonly name: string;
  readonly count: number;
  /** Since when the oldest of them could. */
  readonly oldestDue: number;
}

export interface JobRouter extends QueuePort {
  /** As `ask`, for those who must know whether it was surely not done. Waits that long for an owner. */
  route(tenant: string, command: Command, patienceMs?: number): Promise<Outcome>;
  askShard(shard: number, command: Command): Promise<Answer>;
  routeShard(shard: number, command: Command, patienceMs?: number): Promise<Outcome>;
  everyShard(command: Command): Promise<ReadonlyMap<number, Answer>>;
  /** Jobs for who serves several tenants or types, each in its turn; waits for the first. */
  take(asked: Take): Promise<readonly TakenJob[]>;
  /** What `accepts` of a take says has changed: those that wait are asked again at once. */
  lookAgain(): void;
  /** Where a tenant's jobs stand; null as long as no layout was read. */
  shardOf(tenant: string): number | null;
  /** Whether somebody can be asked just now. */
  isServed(shard: number): boolean;
  shards(): readonly ShardView[];
  stats(): RouterStats;
  /** Of the shards that this process serves. */
  ready(): readonly ReadyType[];
  /** What each tenant's jobs have cost in the present terms of the shards that this process serves. */
  usage(): readonly TenantUsage[];
  /** Leaves every shard to others. Requests that are under way are answered. */
  stop(): Promise<void>;
}
