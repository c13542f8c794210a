import { mkdtempSync } from "node:fs";
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { batchId, FIRST_EPOCH, type Job, type JobConfiguration, jobId } from "@sluice/queue-core";
import { createEgress, downloadTo, type EgressConfig, LOOPBACK, PUBLIC_ONLY } from "@sluice/safe-io";
import type { JobContext, Outcome, Progress } from "@sluice/stage-runtime";
import { openWorkingFolder } from "@sluice/working-folder";
import { type DownloaderParts, downloadingStage } from "../src/download.ts";
import type { FileVerdict } from "../src/file-verdict.ts";
import { VolumeGuard } from "../src/volume-guard.ts";
import { type ContentServer, startContentServer } from "./content-server.ts";

export const BID = batchId(1);
export const JID = jobId(7);

export interface JobOptions {
  readonly token?: number;
  readonly attempt?: number;
  readonly files?: number | null;
  /** Of the tree, and of the claim whose files count. */
  readonly epoch?: number;
  readonly filesEpoch?: number;
  readonly spaceNeeded?: number;
}

export interface Workbench {
  readonly server: ContentServer;
  readonly root: string;
  readonly files: FileVerdict[];
  readonly shown: Progress[];
  run(configuration: Partial<JobConfiguration>, options?: JobOptions, signal?: AbortSignal): Promise<Outcome>;
  /** Dies at this failpoint: what is on disk stays as it is. */
  dieAt(step: string, configuration: Partial<JobConfiguration>, options?: JobOptions): Promise<void>;
  /** Writes below the job's folder. */
  put(path: string, text: string | Buffer): Promise<void>;
  /** Reads below the job's folder. */
  read(path: string): Promise<string>;
  /** Every file below the job's folder, sorted. */
  list(): Promise<string[]>;
  close(): Promise<void>;
}

/** The stage on a real folder and a real server; retries do not wait. */
export async function openWorkbench(
  parts: Partial<DownloaderParts> = {},
  egressConfig: EgressConfig = {},
): Promise<Workbench> {
  const server = await startContentServer();
  const root = mkdtempSync(join(tmpdir(), "downloader-"));
  const egress = createEgress({ policy: { ...PUBLIC_ONLY, allow: LOOPBACK }, ...egressConfig });
  const folder = await openWorkingFolder(root);
  const files: FileVerdict[] = [];
  const shown: Progress[] = [];
  const stage = downloadingStage({
    folder,
    download: (url, target, name, options) =>
      downloadTo(egress, url, target, name, { ...options, wait: () => Promise.resolve() }),
    limits: { fileMaxBytes: 1_000_000, overrunFactor: 10, overrunFloorBytes: 1_000 },
    archiveLimits: { maxEntries: 100, maxBytes: 1_000_000, maxRatio: 100, ratioFloorBytes: 100_000 },
    filesAtOnce: 3,
    diskFullWaitMs: 60_000,
    guard: new VolumeGuard({ space: () => Promise.resolve(null), limit: 0.8, floorBytes: 1_000 }),
    onFile: (verdict) => files.push(verdict),
    ...parts,
  });
  const jobFolder = folder.jobFolder({ id: JID, batchId: BID, batchEpoch: FIRST_EPOCH });
  return {
    server,
    root,
    files,
    shown,
    run: (configuration, options = {}, signal = new AbortController().signal) =>
      stage.handle(aJob(configuration, options), contextOf(signal, shown)),
    async dieAt(step, configuration, options = {}) {
      const failpoint = (reached: string): Promise<void> =>
        reached === step ? Promise.reject(new Error("died")) : Promise.resolve();
      const context = { ...contextOf(new AbortController().signal, shown), failpoint };
      await stage.handle(aJob(configuration, options), context).then(
        () => Promise.reject(new Error(`never reached ${step}`)),
        (error: unknown) => (String(error) === "Error: died" ? undefined : Promise.reject(error as Error)),
      );
    },
    async put(path, text) {
      await mkdir(dirname(join(jobFolder, path)), { recursive: true });
      await writeFile(join(jobFolder, path), text);
    },
    read: (path) => readFile(join(jobFolder, path), "utf8"),
    list: () => filesBelow(jobFolder),
    async close() {
      await egress.close();
      await server.close();
      await rm(root, { recursive: true, force: true });
    },
  };
}

function aJob(configuration: Partial<JobConfiguration>, options: JobOptions): Job {
  const {
    token = 5,
    attempt = 1,
    files = null,
    spaceNeeded = 0,
    epoch = FIRST_EPOCH,
    filesEpoch = FIRST_EPOCH,
  } = options;
  return {
    id: JID,
    batchId: BID,
    batchEpoch: FIRST_EPOCH,
    configuration: { payload_type: "file", payload_url: "", ...configuration },
    attempt,
    claim: { epoch, token },
    files: files === null ? null : { epoch: filesEpoch, token: files },
    spaceNeeded,
  } as unknown as Job;
}

const contextOf = (signal: AbortSignal, shown: Progress[]): JobContext =>
  ({
    signal,
    failpoint: () => Promise.resolve(),
    progress: (progress: Progress) => shown.push(progress),
    log: { info: () => undefined, warn: () => undefined },
  }) as unknown as JobContext;

async function filesBelow(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true, recursive: true });
  return entries
    .filter((entry) => !entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .sort();
}
