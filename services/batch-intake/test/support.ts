/** Builders for the tests of this service. */
import { mkdtemp, rm } from "node:fs/promises";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Profile } from "@sluice/ingest-formats";
import {
  type Batch,
  batchId,
  type BatchLease,
  FIRST_EPOCH,
  type Job,
  jobId,
  jobUuid,
  type Submission,
} from "@sluice/queue-core";
import { type BatchContext, type JobContext, silentLog } from "@sluice/stage-runtime";

export const PROFILE: Profile = {
  profileId: "demo_content",
  description: "A collection",
  identifierScheme: "ARK",
  owner: "ark:/99999/j2owner",
  collections: ["ark:/99999/m5collection"],
  updatesCollections: [],
  objectType: "MRT-curatorial",
  objectRole: "MRT-content",
  notificationTo: [],
  notificationAllow: ["charles@example.org"],
  notificationSuppression: "none",
  announcesQueued: true,
  callbackFailure: "fail",
  suppressDublinCoreLocalId: false,
  demo: true,
};

export const profileOf =
  (profile: Profile = PROFILE) =>
  (name: string) =>
    name === profile.profileId
      ? ({ ok: true, profile } as const)
      : ({ ok: false, problem: `there is no profile ${name}` } as const);

export const submission = (given: Partial<Submission> = {}): Submission => ({
  profile_name: "demo_content",
  submitter: "ada",
  payload_url: "http://content.example/object.txt",
  erc_what: undefined,
  erc_who: undefined,
  erc_when: undefined,
  erc_where: undefined,
  type: "file",
  submission_mode: "add",
  batchID: "bid-00000000-0000-4000-8000-000000000001",
  digest_type: undefined,
  digest_value: undefined,
  notification: undefined,
  response_type: undefined,
  request_digest: undefined,
  ...given,
});

export const BID = batchId(7);
export const JID = jobId(21);

export const batch = (given: Partial<Batch> = {}): Batch => ({
  id: BID,
  state: "Pending",
  attempt: 1,
  status: { status: "Pending", last_modified: "", message: "" },
  submission: submission(),
  expansion: null,
  report: null,
  ...given,
});

export const job = (configuration: Partial<Job["configuration"]> = {}): Job => ({
  id: JID,
  uuid: jobUuid(JID, "fleet"),
  batchId: BID,
  batchEpoch: FIRST_EPOCH,
  state: "Pending",
  attempt: 1,
  retryCount: 0,
  lastSuccessful: null,
  enteredAt: "2024-05-01 11:59:58 +0000",
  message: "",
  priority: 5,
  spaceNeeded: 0,
  configuration: {
    batch_id: BID,
    profile_name: "demo_content",
    submitter: "ada",
    payload_url: "http://content.example/object.txt",
    payload_type: "file",
    response_type: undefined,
    submission_mode: "add",
    working_dir: undefined,
    jobID: undefined,
    digest_type: undefined,
    digest_value: undefined,
    payload_size: undefined,
    payload_name: undefined,
    resource_to_provision: undefined,
    ...configuration,
  },
  identifiers: null,
  metadata: null,
  inventory: null,
  files: null,
  claim: { epoch: FIRST_EPOCH, token: 3 },
});

const handlerContext = (signal?: AbortSignal) => ({
  signal: signal ?? new AbortController().signal,
  clock: { nowMs: () => 0, monotonicMs: () => 0 },
  log: silentLog(),
  failpoint: () => Promise.resolve(),
});

export const jobContext = (): JobContext => ({
  ...handlerContext(),
  record: () => Promise.resolve(true),
  claimId: "claim",
  lockObjects: () => Promise.resolve(true),
  progress: () => undefined,
});

export function batchContext(of: Batch, given: Partial<BatchContext> = {}): BatchContext {
  const lease: BatchLease = {
    id: of.id,
    state: of.state,
    claim: "claim",
    token: 1,
    statusBytes: Buffer.alloc(0),
    entryVersion: 1,
    lostWorker: null,
  };
  return {
    ...handlerContext(),
    loaded: { lease, batch: of, expansionVersion: 0, reportVersion: null },
    addJobs: () => Promise.resolve({ kind: "refused", detail: "no jobs expected" }),
    expansionMustWait: () => Promise.resolve(null),
    ...given,
  };
}

/** Things to undo after a test, the last first. */
export function makeCleanups() {
  const undo: (() => Promise<unknown>)[] = [];
  return {
    add: (step: () => Promise<unknown>): void => void undo.push(step),
    run: async (): Promise<void> => {
      for (const step of undo.splice(0).reverse()) await step();
    },
  };
}
export type Cleanups = ReturnType<typeof makeCleanups>;

export async function temporaryFolder(cleanups: Cleanups): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "sluice-intake-"));
  cleanups.add(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** A real HTTP server on loopback; answers its base URL. */
export async function serve(cleanups: Cleanups, listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  cleanups.add(() => new Promise((resolve) => server.close(resolve).closeAllConnections()));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

export const batchManifest = (
  kind: "batch-manifest" | "container-batch-manifest" | "single-file-batch-manifest",
  rows: readonly string[],
): string =>
  [
    "#%checkm_0.7",
    `#%profile | http://uc3.cdlib.org/registry/ingest/manifest/mrt-${kind}`,
    "#%prefix | mrt: | http://merritt.cdlib.org/terms#",
    ...rows,
    "#%eof",
    "",
  ].join("\n");

export const fileBatchManifest = (rows: readonly string[]): string => batchManifest("single-file-batch-manifest", rows);

export const objectManifest = (rows: readonly string[]): string =>
  [
    "#%checkm_0.7",
    "#%profile | http://uc3.cdlib.org/registry/ingest/manifest/mrt-ingest-manifest",
    ...rows,
    "#%eof",
    "",
  ].join("\n");

/** Collections that may have anything in progress. */
export const WITHOUT_QUOTAS = { expansionMustWait: () => Promise.resolve(null), add: () => undefined };
