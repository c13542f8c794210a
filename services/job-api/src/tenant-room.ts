/**
 * Whether a tenant may add more jobs where nobody asks its owner first: adds of the serverless door are accepted on our own
 * disk. What the owner counted a moment ago is near enough; while nobody answers, the bounds of the journal count alone.
 */
import { type Reply, STATUS } from "@sluice/job-queue";
import type { QueuePort } from "@sluice/job-doors";

const FRESH_MS = 1_000;
const TENANTS_REMEMBERED = 10_000;

interface Known {
  readonly atMs: number;
  readonly jobs: Promise<number>;
}

export interface RoomPorts {
  readonly queue: Pick<QueuePort, "ask">;
  readonly monotonicMs: () => number;
  readonly jobsPerTenant: number;
}

export class TenantRoom {
  readonly #ports: RoomPorts;
  readonly #known = new Map<string, Known>();

  constructor(ports: RoomPorts) {
    this.#ports = ports;
  }

  /** Why not, or null. */
  async refusal(tenant: string, more: number): Promise<Reply | null> {
    const most = this.#ports.jobsPerTenant;
    if ((await this.#count(tenant)) + more <= most) return null;
    return { status: STATUS.tenantFull(tenant, most), content: { kind: "none" } };
  }

  async #count(tenant: string): Promise<number> {
    const now = this.#ports.monotonicMs();
    const known = this.#known.get(tenant);
    if (known !== undefined && now - known.atMs < FRESH_MS) return known.jobs;
    if (this.#known.size >= TENANTS_REMEMBERED) this.#known.clear();
    const jobs = this.#ask(tenant);
    this.#known.set(tenant, { atMs: now, jobs });
    return jobs;
  }

  /** None while nobody answers. */
  async #ask(tenant: string): Promise<number> {
    const answer = await this.#ports.queue.ask(tenant, { verb: "CountJobs", tenant }).catch(() => null);
    if (answer?.content.kind !== "counts") return 0;
    const counts = answer.content.types.flatMap(({ states }) => Object.values(states));
    return counts.reduce((sum, count) => sum + count, 0);
  }
}
