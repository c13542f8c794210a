/** Lets go what the store has kept long enough. Several processes may do it at once: what is gone is gone. */
import { endpointSpec, operation, type Operation, problem } from "@sluice/http-api";
import { blobNamesInTree } from "@sluice/job-queue";
import { JOB_HOUSE, Purged } from "@sluice/wire";
import type { OpenedQueue } from "./open-queue.ts";

export interface Purge {
  /** How many files went. */
  runs(olderThanMs: number): Promise<number>;
  /** null: not everybody who may name one could be asked, so none went. */
  blobs(): Promise<number | null>;
}

export function makePurge(
  { archive, blobs, sessions }: Pick<OpenedQueue, "archive" | "blobs" | "sessions">,
  nowMs: () => number,
): Purge {
  return {
    runs: (olderThanMs) => archive.purge(nowMs(), olderThanMs),
    async blobs() {
      const looked = { everywhere: true };
      const { removed } = await blobs.sweep({
        named: async () => {
          const named = await namedBlobs({ archive, sessions });
          looked.everywhere = named !== null;
          return named;
        },
      });
      return looked.everywhere ? removed : null;
    },
  };
}

/** The trees first: names go from there to the archive, never back. */
async function namedBlobs({
  archive,
  sessions,
}: Pick<OpenedQueue, "archive" | "sessions">): Promise<ReadonlySet<string> | null> {
  const named = new Set<string>();
  for (const keeper of [sessions.first, ...sessions.others.values()]) {
    const session = keeper.current();
    const inTree = session?.state === "connected" ? await blobNamesInTree(session) : null;
    if (inTree === null) return null;
    for (const name of inTree) named.add(name);
  }
  for (const name of await archive.namedBlobs()) named.add(name);
  return named;
}

const NOT_ALL = problem("UNAVAILABLE", "not every tree could be read, so no blob went", { retryAfterSeconds: 30 });

/** Now, by other rules than the hourly round's: the fleet's own job asks for it. */
export const purgeOperation = (purge: Purge, retentionMs: number): Operation =>
  operation(
    {
      ...endpointSpec(JOB_HOUSE.purge),
      responses: { 200: { description: "done", content: { "application/json": Purged } } },
      problems: ["FORBIDDEN", "UNAVAILABLE"],
    },
    async ({ body: { what, older_than_ms: olderThanMs } }) => {
      const gone = what === "blobs" ? await purge.blobs() : await purge.runs(olderThanMs ?? retentionMs);
      return gone === null ? { problem: NOT_ALL } : { status: 200, body: { gone } };
    },
  );
