/** The workers that are registered, and what they have in hand. */
import { parseJobId, paths, records, type WorkerRecord } from "@sluice/queue-core";
import { type HoldView, rfc3339, type WorkerView } from "@sluice/wire";
import type { ReadAnswer, Session } from "@sluice/zookeeper";

export interface Registered {
  readonly stage: string;
  readonly id: string;
  readonly record: WorkerRecord;
}

/** null = no answer. Services that are no stage (the admin) are registered too. */
export async function readWorkers(session: Session): Promise<readonly Registered[] | null> {
  const stages = await session.children(paths.workers);
  if (!stages.ok) return stages.code === "NO_NODE" ? [] : null;
  const names = [...stages.value.names].sort();
  const listed = await session.readMany(names.map((stage) => ({ children: paths.stageWorkers(stage) })));
  if (!listed.ok) return null;
  const all = names.flatMap((stage, i) => {
    const answer = listed.value[i];
    return answer?.kind === "children" ? [...answer.names].sort().map((id) => ({ stage, id })) : [];
  });
  const nodes =
    all.length === 0 ? null : await session.readMany(all.map(({ stage, id }) => ({ get: paths.worker(stage, id) })));
  if (nodes?.ok === false) return null;
  const registered = all.flatMap(({ stage, id }, i) => {
    const answer = nodes?.value[i];
    const record = answer?.kind === "node" ? records.worker.decode(answer.node.data) : null;
    return record?.ok === true ? [{ stage, id, record: record.value }] : [];
  });
  return await stillInHand(session, registered);
}

/** More locks are not worth a look every second: then what the workers have said must do. */
const LOCKS_READ_MAX = 2_000;

/** Workers write down what they have in hand twice a minute at most; a job that is done is let go at once. */
async function stillInHand(session: Session, workers: readonly Registered[]): Promise<readonly Registered[] | null> {
  const said = workers.flatMap(({ record }) => record.jobs.flatMap((raw) => parseJobId(raw) ?? []));
  if (said.length === 0 || said.length > LOCKS_READ_MAX) return workers;
  const locks = await session.readMany(said.map((id) => ({ get: paths.jobLock(id) })));
  if (!locks.ok) return null;
  const owners = new Map(said.map((id, i) => [String(id), ownerIn(locks.value[i])]));
  return workers.map((worker) => ({
    ...worker,
    record: {
      ...worker.record,
      jobs: worker.record.jobs.filter((raw) => !owners.has(raw) || owners.get(raw) === worker.id),
    },
  }));
}

function ownerIn(answer: ReadAnswer | undefined): string | null {
  const lock = answer?.kind === "node" ? records.lock.decode(answer.node.data) : null;
  return lock?.ok === true ? lock.value.owner : null;
}

export const workerView = ({ stage, id, record }: Registered, drains: ReadonlyMap<string, HoldView>): WorkerView => ({
  id,
  stage,
  host: record.host,
  pid: record.pid,
  version: record.version,
  since: rfc3339(record.since),
  jobs: record.jobs,
  concurrency: record.concurrency,
  cpu_seconds: record.cpu_seconds,
  memory_bytes: record.memory_bytes,
  draining: drains.get(id) ?? null,
});
