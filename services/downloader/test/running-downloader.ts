/** The duty itself, run by the real engine on a real ZooKeeper, a real folder and a real server. */
import { randomBytes } from "node:crypto";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  type JobConfiguration,
  jobFolder,
  type JobId,
  type JobView,
  placeOfJob,
  readJob,
  resumeJob,
} from "@sluice/queue-core";
import { createEgress, downloadTo, type EgressConfig, PUBLIC_ONLY } from "@sluice/safe-io";
import { readConfig, Service, silentLog } from "@sluice/stage-runtime";
import {
  aBatchOfJobs,
  aJobSpec,
  checkInvariants,
  claimJob,
  describeViolation,
  testWorker,
  testZooKeeper,
  waitFor,
} from "@sluice/testkit";
import { openWorkingFolder } from "@sluice/working-folder";
import { downloaderConfig } from "../src/config.ts";
import { downloadingStage } from "../src/download.ts";
import { VolumeGuard } from "../src/volume-guard.ts";
import { type ContentServer, startContentServer } from "./content-server.ts";

export interface Options {
  readonly egress?: EgressConfig;
  /** For one file, within one attempt. */
  readonly tries?: number;
  readonly attemptsMax?: number;
}

export interface RunningDownloader {
  readonly connect: string;
  readonly root: string;
  readonly server: ContentServer;
  /** How long each pause between two tries for a file should have been. */
  readonly pauses: readonly number[];
  /** A job that is ready for download, estimated at so many bytes. */
  submit(configuration: Partial<JobConfiguration>, spaceNeeded?: number): Promise<JobId>;
  view(id: JobId): Promise<JobView>;
  /** The state after Downloading, and the message. */
  end(id: JobId): Promise<readonly [state: string, message: string]>;
  /** By an operator, at the stage it failed in. */
  resume(id: JobId): Promise<void>;
  /** What stands in the folders of its claims: path and text. */
  files(id: JobId): Promise<Readonly<Record<string, string>>>;
  violations(): readonly string[];
  close(): Promise<void>;
}

/** `duty: false`: nobody takes the jobs, for tests that start a process of their own. */
export async function startDownloader(options: Options = {}, duty = true): Promise<RunningDownloader> {
  const zk = await testZooKeeper();
  const root = await mkdtemp(join(tmpdir(), "sluice-downloader-"));
  const server = await startContentServer();
  const [intake, estimator, provisioner] = await Promise.all(
    (["batch-intake", "estimator", "provisioner"] as const).map((stage) => testWorker(zk.connect, stage)),
  );
  const pauses: number[] = [];
  // Loopback on the server's port alone: ZooKeeper is on this machine too, and must be out of reach.
  const allow = [{ cidr: "127.0.0.1/32", ports: [server.port] }];
  const egress = createEgress({ policy: { ...PUBLIC_ONLY, allow }, ...options.egress });
  const stop = duty ? await run() : () => Promise.resolve();

  async function run(): Promise<() => Promise<void>> {
    const env = {
      ZOOKEEPER_CONNECT: zk.connect,
      METRICS_PORT: "0",
      POLL_INTERVAL_MS: "50",
      IDLE_POLL_INTERVAL_MS: "100",
      ATTEMPTS_MAX: String(options.attemptsMax ?? 3),
      WORKER_ID: `downloader-${randomBytes(4).toString("hex")}`,
    };
    const read = readConfig(downloaderConfig, env);
    if (!read.ok) throw new Error(read.problems.join());
    const stage = downloadingStage({
      folder: await openWorkingFolder(root),
      download: (url, target, name, wishes) =>
        downloadTo(egress, url, target, name, {
          ...wishes,
          retry: { attempts: options.tries ?? 2 },
          wait: (ms) => {
            pauses.push(ms);
            return Promise.resolve();
          },
        }),
      limits: { fileMaxBytes: 1_000_000, overrunFactor: 10, overrunFloorBytes: 1_000 },
      archiveLimits: {},
      filesAtOnce: 2,
      diskFullWaitMs: 60_000,
      guard: new VolumeGuard({ space: () => Promise.resolve(null), limit: 0.8, floorBytes: 1_000 }),
      onFile: () => undefined,
    });
    const clock = { nowMs: () => Date.now(), monotonicMs: () => performance.now() };
    // Chance 0: attempts follow each other at once.
    const service = new Service(
      { service: "downloader", config: read.config, duties: [stage] },
      { clock, random: () => 0, log: silentLog(), probe: () => undefined },
    );
    const ended = service.run();
    return async () => {
      service.ring();
      await ended;
    };
  }

  async function view(id: JobId): Promise<JobView> {
    const found = await readJob(intake!.session, id);
    if (found.kind !== "found") throw new Error(found.kind);
    return found.value;
  }

  return {
    connect: zk.connect,
    root,
    server,
    pauses,
    view,
    async submit(configuration, spaceNeeded = 0) {
      const spec = aJobSpec();
      const { jobs } = await aBatchOfJobs(intake!, [
        { ...spec, configuration: { ...spec.configuration, ...configuration } },
      ]);
      const id = jobs[0]!;
      await intake!.jobs.commit(await claimJob(intake!, "Pending", id), { kind: "done", changes: {} });
      const estimated = await claimJob(estimator!, "Estimating", id);
      await estimator!.jobs.commit(estimated, { kind: "done", changes: { spaceNeeded } });
      await provisioner!.jobs.commit(await claimJob(provisioner!, "Provisioning", id), { kind: "done", changes: {} });
      return id;
    },
    async end(id) {
      const { status } = await waitFor(
        async () => {
          const now = await view(id);
          return now.status.status !== "Downloading" && now;
        },
        { what: `${id} after Downloading` },
      );
      return [status.status, status.message];
    },
    async resume(id) {
      const resumed = await resumeJob(intake!.ctx, { name: "olga", reason: "mended" }, id);
      if (resumed.kind !== "applied") throw new Error(JSON.stringify(resumed));
    },
    async files(id) {
      const folder = join(root, jobFolder(placeOfJob(await view(id))));
      const entries = await readdir(folder, { withFileTypes: true, recursive: true });
      const paths = entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
      const texts = await Promise.all(
        paths.map(async (path) => {
          const name = path.slice(folder.length + 1).replace(/^\.claim-(?:\d+-)?\d+\//, "");
          return [name, await readFile(path, "latin1")] as const;
        }),
      );
      return Object.fromEntries(texts);
    },
    violations: () => checkInvariants({ logDir: zk.logDir, root: zk.root }).violations.map(describeViolation),
    async close() {
      await stop();
      await egress.close();
      await Promise.all([server.close(), intake!.close(), estimator!.close(), provisioner!.close()]);
      await rm(root, { recursive: true, force: true });
    },
  };
}
