/** A tree of its own with jobs in it, and services that run in this process. */
import {
  batchId,
  type BatchId,
  BUCKETS,
  createJobOps,
  initTree,
  type FleetJob,
  formatTimestamp,
  type JobId,
  jobId,
  type JobState,
  type JobStatus,
  newFleetJob,
  paths,
  type QueueContext,
  records,
} from "@sluice/queue-core";
import { ownZooKeeper, type OwnZooKeeper, testZooKeeper, type TestZooKeeper } from "@sluice/testkit";
import { connectSession, makeCommitter, type Op, type Session, systemClock } from "@sluice/zookeeper";
import { randomBytes } from "node:crypto";
import { baseConfig, type Duty, type ServiceHost, type ServiceOptions, Service, silentLog } from "../../src/index.ts";
import { Recorder } from "./recorder.ts";

export interface JobOptions {
  readonly number: number;
  readonly state?: JobState;
  readonly priority?: number;
  readonly profile?: string;
  readonly fleetJob?: Partial<FleetJob>;
  readonly spaceNeeded?: number;
  readonly lastSuccessful?: JobState;
}

export interface RunningService {
  readonly service: Service;
  readonly recorder: Recorder;
  readonly code: Promise<number>;
}

export const BATCH: BatchId = batchId(1);

const BATCH_FOLDERS = ["", "/states", ...BUCKETS.map((bucket) => `/states/${bucket}`)];

export class World {
  readonly connect: string;
  readonly zookeeper: TestZooKeeper | OwnZooKeeper;
  readonly session: Session;
  readonly queue: QueueContext;
  readonly #running: RunningService[] = [];

  private constructor(zookeeper: TestZooKeeper | OwnZooKeeper, session: Session) {
    this.zookeeper = zookeeper;
    this.connect = zookeeper.connect;
    this.session = session;
    this.queue = contextOf(session);
  }

  static async make(): Promise<World> {
    return await World.on(await testZooKeeper());
  }

  /** With a server that the test may stop. */
  static async own(): Promise<World> {
    return await World.on(await ownZooKeeper());
  }

  static async on(zookeeper: TestZooKeeper | OwnZooKeeper): Promise<World> {
    const world = await World.empty(zookeeper);
    await world.init();
    return world;
  }

  /** Nobody has made a tree there. */
  static async empty(zookeeper: TestZooKeeper | OwnZooKeeper): Promise<World> {
    return new World(zookeeper, await connectSession({ connect: zookeeper.connect, timeoutMs: 30_000 }));
  }

  /** The tree, and a batch in it. */
  async init(): Promise<void> {
    const tree = await initTree(this.queue);
    if (!tree.ok) throw new Error(tree.problem);
    await this.write([
      ...BATCH_FOLDERS.map((path): Op => ({ op: "create", path: paths.batch(BATCH) + path, data: Buffer.alloc(0) })),
      {
        op: "create",
        path: paths.batchStatus(BATCH),
        data: records.batchStatus.encode({ status: "Processing", last_modified: "", message: "" }),
      },
    ]);
  }

  async write(ops: readonly Op[]): Promise<void> {
    const answer = await this.session.multi(ops);
    if (!answer.ok) throw new Error(`${answer.code} ${answer.detail} at ${JSON.stringify(ops[answer.index])}`);
  }

  async addJob(options: JobOptions): Promise<JobId> {
    const { id, ops } = jobOps(options);
    await this.write(ops);
    return id;
  }

  async addJobs(count: number, options: Omit<JobOptions, "number"> = {}): Promise<JobId[]> {
    const made = Array.from({ length: count }, (_, i) => jobOps({ ...options, number: i + 1 }));
    for (let i = 0; i < made.length; i += 50) await this.write(made.slice(i, i + 50).flatMap(({ ops }) => ops));
    return made.map(({ id }) => id);
  }

  async status(id: JobId): Promise<JobStatus> {
    return unwrap(records.jobStatus.decode((await this.data(paths.jobStatus(id))) ?? Buffer.alloc(0)));
  }

  async fleetJob(id: JobId): Promise<FleetJob> {
    return unwrap(records.fleetJob.decode((await this.data(paths.fleetJob(id))) ?? Buffer.alloc(0)));
  }

  async data(path: string): Promise<Buffer | null> {
    const node = await this.session.get(path);
    return node.ok ? node.value.data : null;
  }

  async children(path: string): Promise<readonly string[]> {
    const answer = await this.session.children(path);
    return answer.ok ? answer.value.names : [];
  }

  start(
    name: string,
    duties: ServiceOptions["duties"],
    config: Record<string, string> = {},
    more: Partial<ServiceOptions> = {},
    host: Partial<ServiceHost> = {},
  ): RunningService {
    const recorder = new Recorder();
    const parsed = baseConfig.parse({
      ZOOKEEPER_CONNECT: this.connect,
      METRICS_PORT: "0",
      WORKER_ID: `w${this.#running.length + 1}-${randomBytes(3).toString("hex")}`,
      POLL_INTERVAL_MS: "200",
      IDLE_POLL_INTERVAL_MS: "1000",
      ...config,
    });
    const service = new Service(
      { service: name, config: parsed, duties, ...more },
      { clock: systemClock, random: Math.random, log: silentLog(), probe: recorder.probe, ...host },
    );
    const running = { service, recorder, code: service.run() };
    this.#running.push(running);
    return running;
  }

  async close(): Promise<void> {
    for (const { service } of this.#running) {
      service.ring();
      service.ring();
    }
    await Promise.all(this.#running.map(({ code }) => code));
    await this.session.close();
    if ("stop" in this.zookeeper) await this.zookeeper.stop();
  }
}

export const contextOf = (session: Session): QueueContext => ({
  session,
  committer: makeCommitter(session),
  clock: systemClock,
  newId: () => randomBytes(9).toString("base64url"),
});

function jobOps(options: JobOptions): { readonly id: JobId; readonly ops: readonly Op[] } {
  const { number, state = "Downloading", priority = 10, profile = "demo_content", spaceNeeded = 0 } = options;
  const id = jobId(number);
  const nowMs = Date.now();
  const fresh = newFleetJob({ op: `create-${number}`, atMs: nowMs, kind: "create", state, by: "test" });
  const ops = createJobOps({
    id,
    batch: BATCH,
    priority,
    configuration: unwrap(records.jobConfiguration.decode(Buffer.from(JSON.stringify({ profile_name: profile })))),
    identifiers: null,
    metadata: null,
    status: {
      status: state,
      last_modified: formatTimestamp(nowMs),
      last_successful_status: options.lastSuccessful ?? null,
      retry_count: 0,
      message: "",
    },
    fleetJob: { ...fresh, ...options.fleetJob },
  });
  const sized = ops.map((op): Op =>
    op.op === "create" && op.path === paths.jobSpaceNeeded(id)
      ? { ...op, data: records.spaceNeeded.encode(spaceNeeded) }
      : op,
  );
  return { id, ops: sized };
}

function unwrap<T>(
  parsed: { readonly ok: true; readonly value: T } | { readonly ok: false; readonly problem: string },
): T {
  if (!parsed.ok) throw new Error(parsed.problem);
  return parsed.value;
}

/** A job stage over Downloading whose handler is given. */
export const downloading = (handle: Extract<Duty, { kind: "job-stage" }>["handle"]): Duty => ({
  kind: "job-stage",
  takes: "Downloading",
  handle,
});
