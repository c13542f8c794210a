/** The queue's commands as typed calls. */
import type { CallInput } from "@sluice/client";
import {
  type AnswerOf,
  type BodyOf,
  type Endpoint,
  type FairlyTakenJob,
  type Handler,
  type HandlerSpec,
  type HandlerSummary,
  type JobResult,
  type JobRun,
  JOBS,
  type JobWorker,
  type NewJob,
  type QueryOf,
  type QueuedJob,
  type QueuedJobDetail,
  type QueueShard,
  type QueueTenant,
  type QueueType,
  type TakenJob,
} from "@sluice/wire";
import { hostname } from "node:os";
import { randomUUID } from "node:crypto";
import { LeaseKeeper } from "./lease-keeper.ts";
import type { Outcome } from "./outcome.ts";
import { type How, openTransport, type Transport, type TransportOptions } from "./transport.ts";
import { type Handle, startWork, type WorkOptions, type Working } from "./work.ts";

export interface JobClientOptions extends TransportOptions {
  /** Whose jobs; `default` if not said. */
  readonly tenant?: string;
  /** Who takes jobs: stands in their records. Made of host and process if not said. */
  readonly worker?: string;
  /** How often leases are renewed. */
  readonly renewMs?: number;
}

type Of<E extends Endpoint> = NonNullable<BodyOf<E>>;
type Ends = Omit<Of<typeof JOBS.finishJob>, "jobID">;
/** A page of a list, and where the next one begins. */
type PageOf<T> = Outcome<{ readonly items: readonly T[]; readonly next_cursor: string | null }>;

export interface Waiting {
  /** How long to wait for a job; without it the answer comes at once. */
  readonly waitMs?: number;
  readonly signal?: AbortSignal;
}
export type Wanted = Omit<Of<typeof JOBS.getJob>, "connection" | "timeout"> & Waiting;
export type WantedJobs = Omit<Of<typeof JOBS.getJobs>, "connection" | "timeout"> & Waiting;
export type Taking = Omit<Of<typeof JOBS.takeJobs>, "worker" | "waitMs"> & Waiting;

const NO_JOB = "No job found";
/** Of a wait whose end is not said by the other side. */
const TAKE_WAIT_MOST_MS = 60_000;

export class JobClient {
  readonly tenant: string;
  readonly worker: string;
  readonly #transport: Transport;
  readonly #leases: LeaseKeeper;

  constructor(tenant: string, worker: string, transport: Transport, leases: LeaseKeeper) {
    this.tenant = tenant;
    this.worker = worker;
    this.#transport = transport;
    this.#leases = leases;
  }

  /** The same connections and leases, for another tenant. */
  forTenant(tenant: string): JobClient {
    return new JobClient(tenant, this.worker, this.#transport, this.#leases);
  }

  /** Any endpoint of the table. */
  call<E extends Endpoint>(endpoint: E, input: CallInput<E>, how?: How): Promise<Outcome<AnswerOf<E>>> {
    return this.#transport.ask(endpoint, input, how);
  }

  async createJob(job: NewJob): Promise<Outcome<number>> {
    const made = await this.call(JOBS.createJob, { ...this.#mine, body: job });
    return made.ok ? { ...made, value: made.value.jobID } : made;
  }

  /** All of them, or none. */
  async createJobs(jobs: readonly NewJob[]): Promise<Outcome<readonly number[]>> {
    const made = await this.call(JOBS.createJobs, { ...this.#mine, body: { jobs: [...jobs] } });
    return made.ok ? { ...made, value: made.value.jobIDs } : made;
  }

  /** Null: there is none. */
  async getJob(wanted: Wanted): Promise<Outcome<TakenJob | null>> {
    const got = await this.getJobs({ ...wanted, numResults: 1 });
    return got.ok ? { ...got, value: got.value[0] ?? null } : got;
  }

  async getJobs({ waitMs, signal, ...wanted }: WantedJobs): Promise<Outcome<readonly TakenJob[]>> {
    const wait = waitMs === undefined ? {} : { connection: "wait" as const, timeout: waitMs };
    const body = { worker: this.worker, ...wanted, ...wait };
    const got = await this.call(JOBS.getJobs, { ...this.#mine, body, ...given(signal) }, { waitMs: waitMs ?? 0 });
    if (got.ok) return { ...got, value: got.value.jobs };
    const none = got.kind === "refused" && got.refusal.detail === NO_JOB;
    return none ? { ok: true, status: 200, value: [] } : got;
  }

  /** Of several tenants and types, each in its fair turn. */
  async take({ waitMs = 0, signal, ...taking }: Taking): Promise<Outcome<readonly FairlyTakenJob[]>> {
    const body = { worker: this.worker, ...taking, waitMs: Math.min(waitMs, TAKE_WAIT_MOST_MS) };
    const got = await this.call(JOBS.takeJobs, { body, ...given(signal) }, { waitMs });
    return got.ok ? { ...got, value: got.value.jobs } : got;
  }

  /** The ids of those that are no longer the caller's. */
  async renew(leases: Of<typeof JOBS.renewLeases>["leases"]): Promise<Outcome<readonly number[]>> {
    const input = { params: { worker: this.worker }, body: { leases } };
    const renewed = await this.call(JOBS.renewLeases, input, { repeatable: true, timeoutMs: RENEWAL_TIMEOUT_MS });
    return renewed.ok ? { ...renewed, value: renewed.value.lost } : renewed;
  }

  query(jobID: number): Promise<Outcome<AnswerOf<typeof JOBS.queryJob>>> {
    return this.call(JOBS.queryJob, { ...this.#mine, body: { jobID } }, { repeatable: true });
  }
  update(jobID: number, changes: Omit<Of<typeof JOBS.updateJob>, "jobID">): Promise<Outcome<object>> {
    return this.call(JOBS.updateJob, { ...this.#mine, body: { ...changes, jobID } });
  }
  /** An end that shows its lease may be said twice: the second one gets the first answer. */
  finish(jobID: number, end: Ends = {}): Promise<Outcome<object>> {
    return this.call(JOBS.finishJob, { ...this.#mine, body: { ...end, jobID } }, saidTwice(end));
  }
  retry(jobID: number, end: Omit<Of<typeof JOBS.retryJob>, "jobID"> = {}): Promise<Outcome<object>> {
    return this.call(JOBS.retryJob, { ...this.#mine, body: { ...end, jobID } }, saidTwice(end));
  }
  fail(jobID: number, end: Ends = {}): Promise<Outcome<object>> {
    return this.call(JOBS.failJob, { ...this.#mine, body: { ...end, jobID } }, saidTwice(end));
  }
  cancel(jobID: number): Promise<Outcome<object>> {
    return this.call(JOBS.cancelJob, { ...this.#mine, body: { jobID } });
  }
  delete(jobID: number): Promise<Outcome<object>> {
    return this.call(JOBS.deleteJob, { ...this.#mine, body: { jobID } });
  }
  requeue(jobIDs: readonly number[], more: { readonly name?: string } = {}): Promise<Outcome<object>> {
    return this.call(JOBS.requeueJobs, { ...this.#mine, body: { ...more, jobIDs: [...jobIDs] } });
  }

  /** Everything about a job, also about one that has ended and gone. */
  describe(id: number): Promise<Outcome<QueuedJobDetail>> {
    return this.call(JOBS.describeJob, { params: { tenant: this.tenant, id } });
  }
  result(id: number): Promise<Outcome<JobResult>> {
    return this.call(JOBS.jobResult, { params: { tenant: this.tenant, id } });
  }
  list(query: NonNullable<QueryOf<typeof JOBS.listJobs>> = {}): Promise<PageOf<QueuedJob>> {
    return this.call(JOBS.listJobs, { ...this.#mine, query });
  }
  runs(query: NonNullable<QueryOf<typeof JOBS.listRuns>> = {}): Promise<PageOf<JobRun>> {
    return this.call(JOBS.listRuns, { ...this.#mine, query });
  }
  types(): Promise<Outcome<{ readonly items: readonly QueueType[] }>> {
    return this.call(JOBS.listTypes, this.#mine);
  }
  tenants(): Promise<Outcome<{ readonly items: readonly QueueTenant[] }>> {
    return this.call(JOBS.listTenants, {});
  }
  shards(): Promise<Outcome<{ readonly items: readonly QueueShard[] }>> {
    return this.call(JOBS.listShards, {});
  }
  workers(): Promise<Outcome<{ readonly items: readonly JobWorker[] }>> {
    return this.call(JOBS.listWorkers, {});
  }
  /** Every job that a worker has goes back at once. */
  releaseWorker(worker: string): Promise<Outcome<AnswerOf<typeof JOBS.releaseWorker>>> {
    return this.call(JOBS.releaseWorker, { params: { worker } });
  }

  handlers(): Promise<Outcome<{ readonly items: readonly HandlerSummary[] }>> {
    return this.call(JOBS.listHandlers, this.#mine);
  }
  /** The newest version unless one is named. */
  handler(type: string, version?: number): Promise<Outcome<Handler>> {
    return this.call(JOBS.getHandler, { params: { tenant: this.tenant, type }, query: { version } });
  }
  putHandler(type: string, spec: HandlerSpec): Promise<Outcome<Handler>> {
    return this.call(JOBS.putHandler, { params: { tenant: this.tenant, type }, body: spec });
  }
  deleteHandler(type: string, version?: number): Promise<Outcome<AnswerOf<typeof JOBS.deleteHandler>>> {
    return this.call(JOBS.deleteHandler, { params: { tenant: this.tenant, type }, query: { version } });
  }

  /** Takes jobs of these names (or of one pattern) and runs them, until it is stopped. */
  work(names: string | readonly string[], handle: Handle, options: WorkOptions = {}): Working {
    const client = options.tenant === undefined ? this : this.forTenant(options.tenant);
    return startWork(client, this.#leases, typeof names === "string" ? [names] : names, handle, options);
  }

  /** Ends the connections. Workers are to be stopped before. */
  async close(): Promise<void> {
    this.#leases.stop();
    await this.#transport.close();
  }

  get #mine(): { readonly params: { readonly tenant: string } } {
    return { params: { tenant: this.tenant } };
  }
}

const saidTwice = ({ lease }: { readonly lease?: string | undefined }): How => ({ repeatable: lease !== undefined });
const given = (signal: AbortSignal | undefined): { readonly signal?: AbortSignal } =>
  signal === undefined ? {} : { signal };

const RENEW_MS = 3_000;
/** Of one address: another one must be asked while the leases last. */
const RENEWAL_TIMEOUT_MS = 2_500;

export function openJobs(options: JobClientOptions): JobClient {
  const worker = options.worker ?? `${hostname().slice(0, 64)}-${process.pid}-${randomUUID().slice(0, 8)}`;
  const transport = openTransport(options);
  const client: JobClient = new JobClient(
    options.tenant ?? "default",
    worker,
    transport,
    new LeaseKeeper((leases) => client.renew([...leases]), options.renewMs ?? RENEW_MS),
  );
  return client;
}
