/**
 * The claims of this process, from session to session. A claim counts an attempt before the work begins, so that the
 * death of a worker counts; a worker that outlives its session did not die, and takes the attempt back.
 */
import { type FleetJob, type JobId, type Lease, paths, type QueueContext, records } from "@sluice/queue-core";
import type { Move } from "@sluice/zookeeper";

const READS_MAX = 200;

export class Claims {
  readonly #open = new Map<JobId, Lease>();

  took(lease: Lease): void {
    this.#open.set(lease.id, lease);
  }

  /** Settled by a write of ours, or another's job by now: nothing is to be taken back. */
  ended(id: JobId): void {
    this.#open.delete(id);
  }

  /** In a new session, before it claims anything. Best effort: who was faster, or did not answer, keeps the count. */
  async takeBack({ session, committer }: Pick<QueueContext, "session" | "committer">): Promise<readonly JobId[]> {
    const left = [...this.#open.values()];
    this.#open.clear();
    const taken: JobId[] = [];
    for (let i = 0; i < left.length; i += READS_MAX) {
      const part = left.slice(i, i + READS_MAX);
      const locks = await session.readMany(part.map(({ id }) => ({ get: paths.jobLock(id) })));
      if (!locks.ok) return taken;
      const free = part.filter((_, j) => locks.value[j]?.kind === "none");
      const answers = await Promise.all(free.map((lease) => committer.submit(uncounted(lease))));
      for (const each of free.filter((_, j) => answers[j]?.ok === true).map(({ id }) => id)) taken.push(each);
    }
    return taken;
  }
}

/** Both versions are as our claim left them: nobody has touched the job since. */
function uncounted({ id, token, fleetJob, fleetJobVersion }: Lease): Move {
  const { claimed: _, ...rest } = fleetJob;
  const record: FleetJob = { ...rest, attempts: Math.max(0, fleetJob.attempts - 1) };
  return {
    rank: "commit",
    ops: [
      { op: "check", path: paths.jobStatus(id), version: token },
      { op: "set", path: paths.fleetJob(id), data: records.fleetJob.encode(record), version: fleetJobVersion },
    ],
  };
}
