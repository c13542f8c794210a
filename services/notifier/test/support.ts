import { parseProfile } from "@sluice/ingest-formats";
import { type Job, batchId, FIRST_EPOCH, jobId, jobUuid, records } from "@sluice/queue-core";
import { createEgress, type Egress, LOOPBACK, PUBLIC_ONLY } from "@sluice/safe-io";
import type { JobContext, Log } from "@sluice/stage-runtime";
import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export interface Received {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface Receiver {
  readonly host: string;
  readonly received: Received[];
  close(): Promise<void>;
}

/** A depositor's system: a real HTTP server that answers as it is told and writes down what it got. */
export async function receiver(answer: (response: ServerResponse) => void): Promise<Receiver> {
  const received: Received[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const { method = "", url = "", headers } = request;
      received.push({ method, path: url, headers, body: Buffer.concat(chunks).toString("utf8") });
      answer(response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const close = (): Promise<void> =>
    new Promise((resolve) => {
      server.closeAllConnections();
      server.close(() => resolve());
    });
  return { host: `127.0.0.1:${port}`, received, close };
}

export const answers =
  (status: number, headers: Record<string, string> = {}) =>
  (response: ServerResponse): void => {
    response.writeHead(status, headers).end("thanks");
  };

export const loopbackEgress = (): Egress => createEgress({ policy: { ...PUBLIC_ONLY, allow: LOOPBACK } });

/** A profile store with one profile, read from its text as a real one would be. */
export function profileWith(lines: readonly string[]) {
  const text = [
    "ProfileID: sluice_demo_content",
    "Owner: ark:/99999/fk4owner",
    "Collection.1: ark:/99999/fk4collection",
    "Type: MRT-curatorial",
    "Role: MRT-content",
    ...lines,
  ].join("\n");
  const parsed = parseProfile(text);
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.problems));
  const { profile } = parsed;
  return {
    get: (name: string) =>
      name === profile.profileId
        ? ({ ok: true, profile } as const)
        : ({ ok: false, problem: `there is no profile ${name}` } as const),
  };
}

export const JOB_NAME = jobUuid(jobId(7), "history");

export function aJob(overrides: Partial<Job> = {}): Job {
  const configuration = records.jobConfiguration.decode(
    Buffer.from(
      JSON.stringify({
        profile_name: "sluice_demo_content",
        jobID: JOB_NAME,
        payload_name: "thesis.pdf",
        submission_date: "2024-04-30T12:00:00+02:00",
        digest_type: "sha-256",
        digest_value: "ab12",
      }),
    ),
  );
  if (!configuration.ok) throw new Error(configuration.problem);
  return {
    id: jobId(7),
    uuid: JOB_NAME,
    batchId: batchId(1),
    batchEpoch: FIRST_EPOCH,
    state: "Notify",
    attempt: 1,
    retryCount: 0,
    lastSuccessful: "Recording",
    enteredAt: "2024-05-01 11:59:58 +0000",
    message: "",
    priority: 5,
    spaceNeeded: 10,
    configuration: configuration.value,
    identifiers: { primary_id: "ark:/99999/fk4abc", local_id: ["etd-1", "etd-1b"] },
    metadata: { erc_what: "A thesis", erc_who: "N. N.", erc_when: "2024", erc_where: undefined },
    inventory: { manifest_url: "file:///store/ark/v3/inventory.json", mode: "" },
    files: { epoch: FIRST_EPOCH, token: 2 },
    claim: { epoch: FIRST_EPOCH, token: 4 },
    ...overrides,
  };
}

export interface Noted {
  readonly level: string;
  readonly text: string;
}

/** Enough of pino for handlers; what they say can be looked at. */
export function logbook(): { readonly log: Log; readonly notes: Noted[] } {
  const notes: Noted[] = [];
  const say = (level: string) => (fields: object, message: string) =>
    notes.push({ level, text: `${message} ${JSON.stringify(fields)}` });
  const log = { info: say("info"), warn: say("warn"), error: say("error"), child: () => log } as unknown as Log;
  return { log, notes };
}

export const NOW_MS = Date.UTC(2024, 4, 1, 12, 0, 0);

export function jobContext(log: Log = logbook().log): JobContext & { readonly steps: string[] } {
  const steps: string[] = [];
  return {
    steps,
    log,
    signal: new AbortController().signal,
    clock: { nowMs: () => NOW_MS, monotonicMs: () => 0 },
    failpoint: (step) => {
      steps.push(step);
      return Promise.resolve();
    },
    record: () => Promise.resolve(true),
    claimId: "claim",
    lockObjects: () => Promise.resolve(true),
    progress: () => undefined,
  };
}
