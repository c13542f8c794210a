/** An old queue with everything in it, and an import that dies wherever a test wants. */
import type { QueueContext } from "@sluice/queue-core";
import { type CdlWriter, cdlWriter, newId } from "@sluice/testkit";
import { connectSession, type Committer, makeCommitter, type Session, systemClock } from "@sluice/zookeeper";
import { importOldTree, lookAtOldTree, type Looked, type OldFiles, type PlanOptions } from "../src/index.ts";

export const OPERATOR = { name: "ida", reason: "the old fleet retires" };
export const uuid = (n: number): string => `00000000-0000-4000-8000-${String(n).padStart(12, "0")}`;
const PROFILE = "merritt_demo_content";
const URL_ROW = "https://depositor.example/a.txt";

/** As the old ingest service writes it. */
export const oldConfiguration = (n: number, patch: Readonly<Record<string, unknown>> = {}) => ({
  submissionDate: "2026-07-28T09:14:00-07:00",
  batchID: `bid-${uuid(1)}`,
  profile: PROFILE,
  type: "file",
  submitter: "mjane/Mary Jane",
  responseForm: "xml",
  jobID: `jid-${uuid(n)}`,
  filename: "a.txt",
  payload_url: URL_ROW,
  title: "A title",
  localID: "loc-1; loc-2;loc-1",
  update: false,
  retainTargetURL: true,
  ...patch,
});

export interface OldQueue {
  readonly cdl: CdlWriter;
  readonly batch: string;
  /** By the state it was in. */
  readonly jobs: Readonly<Record<string, string>>;
}

const STORED = {
  identifiers: { primary_id: "ark:/99999/fk4one", local_id: ["loc-1"], minted_by: "ezid" },
  inventory: { manifest_url: "https://store.example/manifest/9502/ark", mode: "" },
};

/** A batch that is Reporting, as it is while its jobs run, with a job in every state. */
export async function plantQueue(connect: string): Promise<OldQueue> {
  const cdl = await cdlWriter(connect);
  const submission = { batchID: `bid-${uuid(1)}`, profile: PROFILE, type: "batchManifestFile", filename: "m.checkm" };
  const batch = await cdl.createBatch({ submission, status: "Reporting" });
  const jobs: Record<string, string> = {};
  const add = async (
    status: string,
    rest: { lastSuccessful?: string | null; space?: number; nodes?: Record<string, unknown> } = {},
  ) => {
    const configuration = oldConfiguration(Object.keys(jobs).length + 1);
    jobs[status] = await cdl.createJob({ batch, configuration, status, ...rest });
  };
  await add("Pending");
  await add("Held");
  await add("Estimating", { lastSuccessful: "Pending" });
  await add("Provisioning", { lastSuccessful: "Estimating", space: 1_024 });
  await add("Downloading", { lastSuccessful: "Provisioning" });
  await add("Processing", { lastSuccessful: "Downloading" });
  await add("Storing", { lastSuccessful: "Processing", nodes: { ...STORED, store: { mode: "add/9502/x" } } });
  await add("Recording", { lastSuccessful: "Storing", nodes: STORED });
  await add("Notify", { lastSuccessful: "Recording", nodes: STORED });
  await add("Completed", { lastSuccessful: "Notify", nodes: STORED });
  await add("Failed", { lastSuccessful: "Processing" });
  await add("Deleted", { lastSuccessful: "Failed" });
  return { cdl, batch, jobs };
}

export async function openTarget(connect: string): Promise<QueueContext> {
  const session = await connectSession({ connect, timeoutMs: 30_000 });
  return { session, committer: makeCommitter(session), clock: systemClock, newId };
}

export async function look(
  source: Session,
  target: Session,
  options: Partial<PlanOptions> & { readonly files?: OldFiles | null } = {},
): Promise<Extract<Looked, { kind: "looked" }>> {
  const looked = await lookAtOldTree(source, target, {
    inPlace: source === target,
    files: null,
    assumeExpanded: false,
    nowMs: 1_790_000_000_000,
    ...options,
  });
  if (looked.kind !== "looked") throw new Error(JSON.stringify(looked));
  return looked;
}

/** Whole, from one tree to another or where it stands. */
export async function bring(ctx: QueueContext, source: Session, options: Partial<PlanOptions> = {}) {
  const looked = await look(source, ctx.session, options);
  const inPlace = source === ctx.session;
  return await importOldTree(ctx, OPERATOR, looked, { from: "old", inPlace, bringFile: () => Promise.resolve() });
}

/** After so many writes it is as if the process had been killed: nothing more leaves it. */
export function dyingAfter(ctx: QueueContext, writes: number): QueueContext {
  let left = writes;
  const dead = { ok: false, code: "SESSION_LOST", detail: "killed", index: -1 } as const;
  const committer: Committer = {
    ...ctx.committer,
    submit: (move) => (left-- > 0 ? ctx.committer.submit(move) : Promise.resolve(dead)),
  };
  return { ...ctx, committer };
}
