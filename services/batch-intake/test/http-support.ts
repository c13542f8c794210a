/** The HTTP side over a queue in memory: what it is asked to create can be looked at. */
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { ANYBODY, type Authenticator } from "@sluice/access";
import { listen, makeEventStreams, type WallOptions } from "@sluice/http-api";
import {
  batchFolder,
  type BatchId,
  batchId,
  type BatchUuid,
  type BatchView,
  type CreateResult,
  findJobId,
  FIRST_EPOCH,
  type JobId,
  type JobView,
  type Submission,
} from "@sluice/queue-core";
import { makeLog, silentLog } from "@sluice/stage-runtime";
import { systemClock } from "@sluice/zookeeper";
import { openIncoming } from "../src/files/incoming.ts";
import { makeApp } from "../src/http/app.ts";
import type { HttpDeps } from "../src/http/deps.ts";
import type { ReadingDeps } from "../src/http/reading/deps.ts";
import { makeLive } from "../src/http/reading/live.ts";
import type { IntakeQueue, NewBatch, Reserved } from "../src/intake-queue.ts";
import { type OpenBacklog, openBacklog } from "../src/journal/open-backlog.ts";
import type { QueueReader } from "../src/queue-reader.ts";
import { type QuotaLimits, Quotas } from "../src/quota/quotas.ts";
import { type Cleanups, PROFILE, profileOf, temporaryFolder } from "./support.ts";

export interface FakeQueue extends IntakeQueue, Pick<QueueReader, "batchOf" | "readBatch" | "readJob"> {
  readonly created: Map<BatchUuid, { readonly id: BatchId; readonly submission: Submission }>;
  readonly batches: Map<BatchId, BatchView>;
  readonly jobs: Map<JobId, JobView>;
  /** What ZooKeeper does with the next creations. */
  mood: "fine" | "away" | "answer-lost";
}

const reserved = (number: number): Reserved => ({
  batchId: batchId(number),
  batchEpoch: FIRST_EPOCH,
  fleet: "fleet",
});

export function fakeQueue(): FakeQueue {
  let next = 100;
  const queue: FakeQueue = {
    created: new Map(),
    batches: new Map(),
    jobs: new Map(),
    mood: "fine",
    fleet: () => (queue.mood === "away" ? null : "fleet"),
    reserve: () => Promise.resolve(queue.mood === "away" ? null : reserved(next++)),
    create: (request) => Promise.resolve(create(request)),
    batchOf(uuid) {
      if (queue.mood === "away") return Promise.resolve({ kind: "silence" });
      const found = queue.created.get(uuid);
      return Promise.resolve(found === undefined ? { kind: "none" } : { kind: "found", value: found.id });
    },
    readBatch: (id) => Promise.resolve(viewed(queue.batches.get(id))),
    readJob: (id) => Promise.resolve(viewed(queue.jobs.get(id))),
  };
  function viewed<T>(value: T | undefined) {
    if (queue.mood === "away") return { kind: "silence" } as const;
    return value === undefined ? ({ kind: "none" } as const) : ({ kind: "found", value } as const);
  }
  function create({ uuid, submission, place }: NewBatch): CreateResult {
    if (queue.mood === "away") return { kind: "lost" };
    const before = queue.created.get(uuid);
    if (before !== undefined) {
      const same = before.submission.request_digest === submission.request_digest;
      return { kind: same ? "replayed" : "conflict", id: before.id };
    }
    const given = place?.batchId ?? batchId(next++);
    queue.created.set(uuid, { id: given, submission });
    return queue.mood === "answer-lost" ? { kind: "lost" } : { kind: "created", id: given };
  }
  return queue;
}

/** Single batches and jobs only: lists and streams are tested on a real tree. */
function readingOf(queue: FakeQueue, backlog: ReadingDeps["backlog"]): ReadingDeps {
  const nothing = () => Promise.resolve({ items: [], next: null });
  const readSigns = () => Promise.resolve(null);
  const reader: QueueReader = {
    batchOf: (uuid) => queue.batchOf(uuid),
    readBatch: (id) => queue.readBatch(id),
    jobOf: (uuid) => findJobId({ get: () => Promise.reject(new Error("rows are looked up in a real tree")) }, uuid),
    readJob: (id) => queue.readJob(id),
    progressOf: () => Promise.resolve(null),
    listBatches: nothing,
    listJobs: nothing,
    readSigns,
  };
  const live = makeLive({ readSigns, everyMs: 20 });
  return { reader, archive: null, backlog, live, streams: makeEventStreams() };
}

/** A real journal; nothing empties it. */
async function journalIn(cleanups: Cleanups, root: string, maxRecords: number) {
  const config = {
    WORKING_DIR: root,
    JOURNAL_DIR: await temporaryFolder(cleanups),
    JOURNAL_MAX_BYTES: 1_000_000,
    JOURNAL_MAX_RECORDS: maxRecords,
    JOURNAL_SEGMENT_BYTES: 100_000,
  };
  const open = (): Promise<OpenBacklog> =>
    openBacklog(config, { clock: systemClock, log: silentLog(), failpoint: () => Promise.resolve() });
  let opened = await open();
  cleanups.add(() => opened.journal.close());
  const reopen = async (): Promise<void> => {
    await opened.journal.close();
    opened = await open();
  };
  return { opened, reopen };
}

/** Only what was accepted here counts. */
function quotasOver(quota: Partial<QuotaLimits>): Quotas {
  const none = { batches: Infinity, jobs: Infinity, queued: Infinity, bytes: Infinity };
  return new Quotas({
    look: () => Promise.resolve(null),
    limitsOf: () => ({ ...none, ...quota }),
    clock: systemClock,
    onRefused: () => undefined,
  });
}

const NO_MERRITT: HttpDeps["merritt"] = {
  startedAtMs: 0,
  fleet: () => null,
  holds: () => Promise.resolve(null),
  setHold: () => Promise.resolve({ kind: "lost" }),
  releaseHold: () => Promise.resolve({ kind: "lost" }),
  profiles: () => [],
};

/** As with AUTH=off. */
export const OPEN_TO_ALL: Authenticator = { authenticate: () => Promise.resolve({ kind: "caller", caller: ANYBODY }) };

export async function startApp(
  cleanups: Cleanups,
  uploadMaxBytes = 1_000_000,
  journalMaxRecords = 100,
  wall: Partial<WallOptions> = {},
  schedules: HttpDeps["schedules"] = null,
  quota: Partial<QuotaLimits> = {},
  callerById: HttpDeps["callerById"] | null = null,
  merritt: HttpDeps["merritt"] | null = null,
) {
  const root = await temporaryFolder(cleanups);
  const queue = fakeQueue();
  const { opened, reopen } = await journalIn(cleanups, root, journalMaxRecords);
  const { backlog, uploads, journal } = opened;
  const refusedSchedules: { readonly schedule: number; readonly why: string }[] = [];
  const lines: string[] = [];
  const deps: HttpDeps = {
    queue,
    profileOf: profileOf({ ...PROFILE, notificationTo: ["ada@example.org"], identifierNamespace: "99999" }),
    clock: { nowMs: () => Date.UTC(2026, 0, 2, 3, 4, 5), monotonicMs: () => 0 },
    incoming: await openIncoming(root),
    backlog,
    uploads,
    removeBatchFolder: (bid) => rm(join(root, batchFolder(bid)), { recursive: true, force: true }),
    uploadLimits: { fileBytes: uploadMaxBytes, formBytes: 2 * uploadMaxBytes, unnamedBytes: uploadMaxBytes },
    quotas: quotasOver(quota),
    hostname: "intake.example",
    version: "1.2.3",
    reading: readingOf(queue, backlog),
    merritt: merritt ?? NO_MERRITT,
    wall: { authenticator: OPEN_TO_ALL, callsPerMinute: 100_000, hosts: "any", ...wall },
    trustedProxies: [],
    schedules,
    scheduleLimits: { perDepositor: 3, leastIntervalMs: 900_000 },
    onScheduleRefused: (schedule, why) => refusedSchedules.push({ schedule, why }),
    callerById: callerById ?? (() => OPEN_TO_ALL.authenticate("")),
    log: makeLog("batch-intake", "info", { write: (line: string) => lines.push(line) }),
  };
  const listening = await listen(makeApp(deps), { port: 0 });
  if (!listening.ok) throw new Error(listening.message);
  const { url: base, port } = listening.server;
  cleanups.add(() => listening.server.close(0));
  const postJson = (body: unknown, headers: Record<string, string> = {}): Promise<Response> =>
    fetch(`${base}/v1/batches`, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: typeof body === "string" ? body : JSON.stringify(body),
    });
  const postForm = (form: FormData, headers: Record<string, string> = {}): Promise<Response> =>
    fetch(`${base}/poster/submit`, { method: "POST", body: form, headers });
  return { root, queue, opened, reopen, journal, base, port, deps, postJson, postForm, refusedSchedules, lines };
}

/** A form as Merritt's clients send it: the fields first, or last. */
export function formOf(
  fields: Readonly<Record<string, string>>,
  file: { readonly name: string; readonly text: string } | null = { name: "object.txt", text: "hello" },
  order: "file-last" | "file-first" = "file-last",
): FormData {
  const form = new FormData();
  const addFile = (): void => {
    if (file !== null) form.append("file", new Blob([file.text]), file.name);
  };
  if (order === "file-first") addFile();
  for (const [name, value] of Object.entries(fields)) form.append(name, value);
  if (order === "file-last") addFile();
  return form;
}

export interface ProblemDocument {
  readonly status: number;
  readonly code: string;
  readonly detail: string;
  readonly errors?: readonly { readonly field?: string; readonly pointer?: string }[];
}

export async function problemOf(response: Response): Promise<ProblemDocument> {
  const type = response.headers.get("content-type") ?? "";
  if (!type.startsWith("application/problem+json")) throw new Error(`no problem document: ${response.status} ${type}`);
  return (await response.json()) as ProblemDocument;
}

/** Names of form fields, and pointers into JSON bodies. */
export const fieldsOf = (problem: ProblemDocument): string[] =>
  (problem.errors ?? []).map(({ field, pointer }) => field ?? pointer ?? "?");
