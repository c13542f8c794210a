/** Who is at work on a tree: everything of ours that has a session has a node of its own there. */
import { paths as queuePaths } from "@sluice/job-queue";
import { paths } from "@sluice/queue-core";
import type { Session } from "@sluice/zookeeper";

export interface AtWork {
  readonly service: string;
  readonly workers: readonly string[];
}

/** Null: ZooKeeper does not answer. */
export async function whoIsAtWork(session: Session): Promise<readonly AtWork[] | null> {
  const stages = await namesIn(session, paths.workers);
  if (stages === null) return null;
  const found: AtWork[] = [];
  for (const service of [...stages].sort()) {
    const workers = await namesIn(session, paths.stageWorkers(service));
    if (workers === null) return null;
    if (workers.length > 0) found.push({ service, workers });
  }
  // They register here too as soon as they serve the queue, and are seen here while they only own a shard.
  const apis = await namesIn(session, queuePaths.apis);
  const terms = await namesIn(session, queuePaths.terms);
  if (apis === null || terms === null) return null;
  const isKnown = found.some(({ service }) => service === "job-api");
  if (!isKnown && apis.length > 0) found.push({ service: "job-api", workers: apis });
  else if (!isKnown && terms.length > 0)
    found.push({ service: "job-api", workers: terms.map((term) => `shard ${term}`) });
  return found;
}

export const describeAtWork = (found: readonly AtWork[]): string =>
  found.map(({ service, workers }) => `${service} is at work: ${[...workers].sort().join(", ")}`).join("; ");

async function namesIn(session: Session, path: string): Promise<readonly string[] | null> {
  const listed = await session.children(path);
  if (listed.ok) return listed.value.names;
  return listed.code === "NO_NODE" ? [] : null;
}
