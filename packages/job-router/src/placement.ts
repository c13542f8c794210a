/** Who should own a shard: by a hash that each process computes alike, and of which few change when one comes or goes. */
import { createHash } from "node:crypto";

const weightOf = (shard: number, apiId: string): string =>
  createHash("sha256").update(`${shard}/${apiId}`).digest("hex");

/** Best first. */
export function ranking(shard: number, apiIds: Iterable<string>): readonly string[] {
  const weighed = [...apiIds].map((apiId) => ({ apiId, weight: weightOf(shard, apiId) }));
  return weighed.sort((a, b) => (a.weight < b.weight ? 1 : a.weight > b.weight ? -1 : 0)).map(({ apiId }) => apiId);
}

/** Whether the one is better placed than the other. */
export function isBetterPlaced(shard: number, one: string, other: string): boolean {
  return one !== other && ranking(shard, [one, other])[0] === one;
}
