/**
 * A job's id is a positive integer from which its shard and its place in the tree follow by arithmetic: block · 1000 + 1
 * to block · 1000 + 1000, and a block's number modulo 16 is its shard. Ids are taken a block at a time, never reused, and
 * stay below 2^53 for 9·10^12 blocks.
 */
import { SHARDS } from "./tenants.ts";

export const BLOCK_IDS = 1000;

export const blockOf = (id: number): number => Math.floor((id - 1) / BLOCK_IDS);
export const shardOf = (id: number): number => blockOf(id) % SHARDS;
/** The n-th block of a shard, from 0. */
export const blockOfShard = (shard: number, n: number): number => n * SHARDS + shard;
export const nextBlock = (block: number): number => block + SHARDS;
export const firstIdOf = (block: number): number => block * BLOCK_IDS + 1;
export const lastIdOf = (block: number): number => (block + 1) * BLOCK_IDS;

/** Canonical decimal digits only: "01", "+1" and "1x" are no ids. */
export function parseJobId(raw: string): number | null {
  if (!/^[1-9]\d{0,15}$/.test(raw)) return null;
  const id = Number(raw);
  return Number.isSafeInteger(id) ? id : null;
}
