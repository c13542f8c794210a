/** A job whose record cannot be read, as a newer version leaves it behind a rollback. */
import { paths, prepareQueue, SHARDS, shardOfTenant } from "@sluice/job-queue";
import { connectSession } from "@sluice/zookeeper";

export interface BadJob {
  readonly id: number;
  /** What stands in the tree. */
  readonly text: string;
}

/** Far behind all that are given out. */
const BLOCK = 1_000_000 * SHARDS;
const BLOCK_IDS = 1_000;

/** Over a job that its owner has in memory. */
export async function spoilJob(connect: string, id: number): Promise<BadJob> {
  const session = await connectSession({ connect, timeoutMs: 30_000 });
  try {
    for (;;) {
      const found = await session.get(paths.job(id));
      if (!found.ok) throw new Error(found.detail);
      const { data, stat } = found.value;
      const text = data.toString().replace("{", '{"lane":"of a newer version",');
      const spoiled = await session.multi([
        { op: "set", path: paths.job(id), data: Buffer.from(text), version: stat.version },
      ]);
      if (spoiled.ok) return { id, text };
    }
  } finally {
    await session.close();
  }
}

/** Before anybody owns the tenant's shard. */
export async function plantBadJob(connect: string, tenant: string, name: string): Promise<BadJob> {
  const session = await connectSession({ connect, timeoutMs: 30_000 });
  try {
    const prepared = await prepareQueue(session);
    if (!prepared.ok) throw new Error(prepared.problem);
    const block = BLOCK + shardOfTenant(tenant);
    const id = block * BLOCK_IDS + 1;
    const job = { v: 1, name, tenant, state: "QUEUED", priority: 500, nextRun: 0, created: 0, data: "{}", ev: [] };
    const text = JSON.stringify({ ...job, lane: "of a newer version" });
    const planted = await session.multi([
      { op: "create", path: paths.block(block), data: Buffer.alloc(0) },
      { op: "create", path: paths.job(id), data: Buffer.from(text) },
    ]);
    if (!planted.ok) throw new Error(planted.detail);
    return { id, text };
  } finally {
    await session.close();
  }
}
