/**
 * The claims of this process, from session to session. A claim counts an attempt before the work begins, so that the
 * death of a worker counts; a worker that outlives its session did not die, and takes the attempt back. One that kept its
 * own event loop from turning is as good as dead: its attempts stay counted.
 */
import {
  type FleetJob,
  type JobId,
  type Lease,
  paths,
  type QueueContext,
  type ReadyCandidate,
  records,
  uncounted,
} from "@sluice/queue-core";
import type { EachAnswer, Move } from "@sluice/zookeeper";

const READS_MAX = 200;

type Queue = Pick<QueueContext, "session" | "committer">;

/** For the history of what is taken back. */
export interface Loser {
  readonly worker: string;
  readonly atMs: number;
  readonly newId: () => string;
}

interface CutShort {
  readonly lease: Lease;
  /** The history without the attempt. */
  readonly fleetJob: FleetJob;
}

export class Claims {
  /** Of the present session. */
  readonly #open = new Map<JobId, Lease>();
  /** Of sessions that were lost; their locks may still stand. */
  readonly #cutShort = new Map<JobId, CutShort>();

  took(lease: Lease): void {
    this.#cutShort.delete(lease.id);
    this.#open.set(lease.id, lease);
  }

  /** Settled by a write of ours, or another's job by now: nothing is to be taken back. */
  ended(id: JobId): void {
    this.#open.delete(id);
  }

  /** The session was lost. `counted`: by our own fault, so that its attempts count. Answers with the jobs that were in hand. */
  lost(counted: boolean, by: Loser): readonly JobId[] {
    const jobs = [...this.#open.keys()];
    if (!counted)
      for (const [id, lease] of this.#open) this.#cutShort.set(id, { lease, fleetJob: withoutIt(lease, by) });
    this.#open.clear();
    return jobs;
  }

  /** Some are still to be taken back. */
  get pending(): boolean {
    return this.#cutShort.size > 0;
  }

  /**
   * Takes back the attempts whose locks are over, in the present session; answers with their jobs. Best effort: who was
   * faster keeps the count. To be asked again while some are pending, for the server ends the old session later than we do.
   */
  async takeBack(queue: Queue): Promise<readonly JobId[]> {
    const left = [...this.#cutShort.values()];
    const taken: JobId[] = [];
    for (let i = 0; i < left.length; i += READS_MAX) {
      const part = left.slice(i, i + READS_MAX);
      const locks = await queue.session.readEach(part.map(({ lease }) => ({ get: paths.jobLock(lease.id) })));
      if (!locks.ok) return taken;
      const free = part.filter((_, j) => locks.value[j]?.kind === "none");
      for (const anothers of part.filter(({ lease }, j) => isAnothers(lease, locks.value[j]))) this.#forget(anothers);
      const answers = await Promise.all(free.map((each) => this.#submit(queue, each)));
      for (const { lease } of free.filter((_, j) => answers[j] === true)) taken.push(lease.id);
    }
    return taken;
  }

  /** One that we are about to claim again: without the attempt that was cut short. */
  async takenBack(queue: Queue, candidate: ReadyCandidate): Promise<ReadyCandidate> {
    const cutShort = this.#cutShort.get(candidate.entry.id);
    if (cutShort?.lease.fleetJobVersion !== candidate.fleetJobVersion) return candidate;
    if (!(await this.#submit(queue, cutShort))) return candidate;
    return { ...candidate, fleetJob: cutShort.fleetJob, fleetJobVersion: candidate.fleetJobVersion + 1 };
  }

  /** False: the tree has moved on, or did not answer. */
  async #submit({ committer }: Queue, cutShort: CutShort): Promise<boolean> {
    const answer = await committer.submit(takeBackMove(cutShort));
    if (answer.ok || answer.code === "BAD_VERSION" || answer.code === "NO_NODE") this.#forget(cutShort);
    return answer.ok;
  }

  #forget(cutShort: CutShort): void {
    const { id } = cutShort.lease;
    if (this.#cutShort.get(id) === cutShort) this.#cutShort.delete(id);
  }
}

/** With our claim on it the server has not ended the old session yet. */
function isAnothers({ claim }: Lease, answer: EachAnswer | undefined): boolean {
  if (answer?.kind !== "node") return false;
  const lock = records.lock.decode(answer.node.data);
  return !lock.ok || lock.value.claim !== claim;
}

const withoutIt = ({ fleetJob, state }: Lease, { worker, atMs, newId }: Loser): FleetJob =>
  uncounted(fleetJob, { op: newId(), atMs, kind: "handback", state, by: worker, detail: "its session was lost" });

/** Both versions are as our claim left them: nobody has touched the job since. */
function takeBackMove({ lease: { id, token, fleetJobVersion }, fleetJob }: CutShort): Move {
  const data = records.fleetJob.encode(fleetJob);
  return {
    rank: "commit",
    ops: [
      { op: "check", path: paths.jobStatus(id), version: token },
      { op: "set", path: paths.fleetJob(id), data, version: fleetJobVersion },
    ],
  };
}
