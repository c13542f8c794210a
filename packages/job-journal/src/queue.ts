/** What the journal needs of the queue: the router, or one owner. */
import type { Command, Reply } from "@sluice/job-queue";

export type Outcome =
  | { readonly kind: "reply"; readonly reply: Reply }
  /** Done or not: nobody knows. */
  | { readonly kind: "unknown" }
  /** Surely not done. */
  | { readonly kind: "unavailable"; readonly why: string };

export interface ShardQueue {
  routeShard(shard: number, command: Command): Promise<Outcome>;
}

export interface TenantQueue extends ShardQueue {
  route(tenant: string, command: Command): Promise<Outcome>;
  /** Null as long as nobody has said. */
  shardOf(tenant: string): number | null;
}

/** Wakes us later; returns the way to stop it. */
export type Later = (ms: number, wake: () => void) => () => void;
