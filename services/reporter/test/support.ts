import { parseProfile } from "@sluice/ingest-formats";
import { batchId, FIRST_EPOCH, type JobId, jobId, records, type Submission, choreDone } from "@sluice/queue-core";
import { openWorkers } from "@sluice/job-workers";
import type { IoFault } from "@sluice/safe-io";
import type { HandlerContext, Log } from "@sluice/stage-runtime";
import { aJobSpec, testWorker } from "@sluice/testkit";
import { systemClock } from "@sluice/zookeeper";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Mail, Mailer, Sent } from "../src/mail.ts";
import type { MarkedMail, SentMarks } from "../src/sent-marks.ts";
import type { ReportedBatch, ReportedJob } from "../src/report.ts";

export const BATCH: ReportedBatch = {
  place: { batchId: batchId(12), batchEpoch: FIRST_EPOCH },
  name: "bid-1f0d7f3e-0000-4000-8000-000000000012",
  profile: "sluice_demo_content",
  submitter: "anna",
};

/** Sweeps that wait for nothing; no key. */
export const QUICK_SETTINGS = {
  SWEEP_INTERVAL_MS: 100,
  CLEAN_UP_INTERVAL_MS: 100,
  MAIL_OPERATORS: [],
  AUDIT_RETENTION_DAYS: 90,
  AUDIT_KEY_FILE: undefined,
  AUDIT_LOST_UP_TO: 0,
  AUDIT_INTERVAL_MS: 3_600_000,
};

export const NOW_MS = Date.UTC(2024, 4, 1, 12, 0, 0);

export function reported(number: number, overrides: Partial<ReportedJob> = {}): ReportedJob {
  const id: JobId = jobId(number);
  return {
    id,
    name: `jid-name-${number}`,
    localIds: [`local-${number}`],
    primaryId: null,
    file: `file-${number}.pdf`,
    title: null,
    payloadUrl: `http://example.org/file-${number}.pdf`,
    state: "Completed",
    message: "",
    stored: { version: 1, recorded: true },
    ...overrides,
  };
}

export const failedJob = (number: number, message = "DOWNLOAD_FAILED: http://example.org/x: HTTP 404"): ReportedJob =>
  reported(number, { state: "Failed", message, stored: null });

export function submissionWith(fields: object = {}): Submission {
  const given = { profile_name: BATCH.profile, submitter: BATCH.submitter, batchID: BATCH.name, ...fields };
  const parsed = records.submission.decode(Buffer.from(JSON.stringify(given)));
  if (!parsed.ok) throw new Error(parsed.problem);
  return parsed.value;
}

export function profileWith(lines: readonly string[]) {
  const text = [
    `ProfileID: ${BATCH.profile}`,
    "Owner: ark:/99999/fk4owner",
    "Collection.1: ark:/99999/fk4collection",
    "Type: MRT-curatorial",
    "Role: MRT-content",
    ...lines,
  ].join("\n");
  const parsed = parseProfile(text);
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.problems));
  return parsed.profile;
}

export function profilesOf(profile: ReturnType<typeof profileWith>) {
  return {
    get: (name: string) =>
      name === profile.profileId
        ? ({ ok: true, profile } as const)
        : ({ ok: false, problem: `there is no profile ${name}` } as const),
  };
}

/** A mailer that keeps what it is given, and answers as it is told. */
export function mailbox(answer: Sent = { kind: "sent", detail: "" }): Mailer & { readonly mails: Mail[] } {
  const mails: Mail[] = [];
  const send = (mail: Mail): Promise<Sent> => {
    mails.push(mail);
    return Promise.resolve(answer);
  };
  return { mails, send, close: () => undefined };
}

/** Marks in memory; `unwritable` ones cannot be made. */
export function marksInMemory(unwritable?: IoFault): SentMarks {
  const marked = new Set<string>();
  const keyOf = ({ place, number, news }: MarkedMail): string => JSON.stringify([place, number, news]);
  return {
    has: (mail) => Promise.resolve(marked.has(keyOf(mail))),
    put: (mail) => {
      if (unwritable !== undefined) return Promise.resolve(unwritable);
      marked.add(keyOf(mail));
      return Promise.resolve(null);
    },
  };
}

export function logbook(): { readonly log: Log; readonly notes: string[] } {
  const notes: string[] = [];
  const say = (level: string) => (fields: object, message: string) =>
    notes.push(`${level}: ${message} ${JSON.stringify(fields)}`);
  const log = { info: () => undefined, warn: say("warn"), error: say("error"), child: () => log } as unknown as Log;
  return { log, notes };
}

export const handlerContext = (log: Log = logbook().log): HandlerContext => ({
  log,
  signal: new AbortController().signal,
  clock: { nowMs: () => NOW_MS, monotonicMs: () => 0 },
  failpoint: () => Promise.resolve(),
});

/** Two in the registry of those who run jobs: one for tenants only, and one for the fleet's own jobs too. */
export async function aJobRunner(
  connect: string,
  mood: "registered" | "does-its-work" = "registered",
): Promise<{ readonly leave: () => Promise<void> }> {
  const worker = await testWorker(connect, "job-runner", { register: false });
  const opened = await openWorkers(worker.session, systemClock.nowMs);
  if (!opened.ok) throw new Error(opened.why);
  const facts = { InstanceId: "", PrivateIp: "", PublicIp: "" };
  await opened.workers.register({ ...facts, Name: "tenants", sysid: 1 });
  const fleet = await opened.workers.register({ ...facts, Name: "fleet", sysid: 2, System: true });
  if (!fleet.ok) throw new Error(fleet.why);
  if (mood === "does-its-work") await choreDone(worker.session, "ordered-clean-up");
  return {
    leave: async () => {
      await fleet.registration.leave();
      await worker.close();
    },
  };
}

/** Of jobs with a local id each. */
export const specs = (count: number) =>
  Array.from({ length: count }, (_, i) => {
    const spec = aJobSpec({ identifiers: { primary_id: null, local_id: [`etd-${i}`] } });
    return { ...spec, configuration: { ...spec.configuration, payload_name: `thesis-${i}.pdf` } };
  });

/** What the producer of a job brought, under its claim. */
export async function putFile(folder: string): Promise<void> {
  const producer = join(folder, ".claim-3", "producer");
  await mkdir(producer, { recursive: true });
  await writeFile(join(producer, "thesis.pdf"), "content");
}
