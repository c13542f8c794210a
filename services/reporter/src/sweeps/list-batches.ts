import { type BatchId, type BatchState, parseBatchId, paths } from "@sluice/queue-core";
import type { Session } from "@sluice/zookeeper";

/** The batches of a state, oldest number first; null = no answer: the next sweep asks again. */
export async function listBatches(
  session: Pick<Session, "children">,
  state: BatchState,
): Promise<readonly BatchId[] | null> {
  const listed = await session.children(paths.fleetBatchQueue(state));
  return listed.ok ? [...listed.value.names].sort().flatMap((name) => parseBatchId(name) ?? []) : null;
}

/** Slices of a list, for reads of many nodes at once. */
export function chunked<T>(items: readonly T[], size: number): readonly (readonly T[])[] {
  const chunks: (readonly T[])[] = [];
  for (let i = 0; i < items.length; i += size) chunks.push(items.slice(i, i + size));
  return chunks;
}
