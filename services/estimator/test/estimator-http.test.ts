import { once } from "node:events";
import { mkdtempSync } from "node:fs";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { batchId, FIRST_EPOCH, type Job, type JobConfiguration, jobId } from "@sluice/queue-core";
import { createEgress, type Egress, LOOPBACK, PUBLIC_ONLY } from "@sluice/safe-io";
import type { JobContext, JobStage } from "@sluice/stage-runtime";
import { openWorkingFolder } from "@sluice/working-folder";
import { estimatingStage } from "../src/estimate.ts";
import { filesOfJob } from "../src/files-of-job.ts";
import { headSize } from "../src/head-size.ts";
import { HostLimits } from "../src/host-limits.ts";
import { sizeOfFile } from "../src/size-of-file.ts";

const BID = batchId(1);
const JID = jobId(7);

let root: string;
let egress: Egress;
let stage: JobStage;
const closers: (() => Promise<unknown>)[] = [];
beforeEach(async () => {
  root = mkdtempSync(join(tmpdir(), "estimator-"));
  const folder = await openWorkingFolder(root);
  egress = createEgress({ policy: { ...PUBLIC_ONLY, allow: LOOPBACK } });
  const head = headSize(egress, new HostLimits({ perHost: 4, perProcess: 64 }), 3_000);
  stage = estimatingStage({
    files: (job) => filesOfJob(job, folder),
    sizeOf: sizeOfFile(folder, head),
    budget: () => new AbortController().signal,
    filesAtOnce: 64,
    largeJobBytes: 1_000_000,
    containerFactor: 3,
  });
});
afterEach(async () => {
  await egress.close();
  for (const close of closers.splice(0)) await close();
  await rm(root, { recursive: true, force: true });
});

async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  closers.push(() => {
    server.closeAllConnections();
    server.close();
    return once(server, "close");
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const context = {
  signal: new AbortController().signal,
  failpoint: () => Promise.resolve(),
  progress: () => undefined,
  log: { info: () => undefined, warn: () => undefined },
} as unknown as JobContext;

const run = (configuration: Partial<JobConfiguration>, files: number | null = null) =>
  stage.handle(
    {
      id: JID,
      batchId: BID,
      batchEpoch: FIRST_EPOCH,
      files: files === null ? null : { epoch: FIRST_EPOCH, token: files },
      configuration: { payload_type: "file", ...configuration },
    } as unknown as Job,
    context,
  );

async function keepManifest(...rows: string[]): Promise<void> {
  const path = join(root, BID, JID, ".claim-2", "manifest.checkm");
  await mkdir(dirname(path), { recursive: true });
  const head = "#%profile | http://uc3.cdlib.org/registry/ingest/manifest/mrt-ingest-manifest";
  await writeFile(path, [head, ...rows, "#%eof"].join("\n"));
}

const sized: RequestListener = (request, response) => {
  response.writeHead(200, { "content-length": (request.url ?? "").slice(1) }).end();
};

describe("against real servers", () => {
  test("a single file is asked for by HEAD", async () => {
    const methods: (string | undefined)[] = [];
    const url = await serve((request, response) => {
      methods.push(request.method);
      sized(request, response);
    });
    expect(await run({ payload_url: `${url}/1234` })).toEqual({ kind: "done", changes: { spaceNeeded: 1234 } });
    expect(methods).toEqual(["HEAD"]);
  });

  test("a container is asked for like a file, and room is kept for what is in it", async () => {
    const job = { payload_url: `${await serve(sized)}/4711`, payload_type: "container" };
    expect(await run(job)).toEqual({ kind: "done", changes: { spaceNeeded: 3 * 4711 } });
  });

  test("the rows of a manifest are asked for at once, at most four on one host", async () => {
    const waiting: (() => void)[] = [];
    let most = 0;
    const url = await serve((request, response) => {
      waiting.push(() => sized(request, response));
      most = Math.max(most, waiting.length);
      if (waiting.length === 4) for (const answer of waiting.splice(0)) answer();
    });
    await keepManifest(...Array.from({ length: 12 }, (_, index) => `${url}/10 | | | | | f${index}`));
    expect(await run({ payload_type: "manifest" }, 2)).toEqual({ kind: "done", changes: { spaceNeeded: 120 } });
    expect(most).toBe(4);
  });

  test("an upload is measured on disk, and never outside its batch", async () => {
    await mkdir(join(root, BID, "uploads"), { recursive: true });
    await writeFile(join(root, BID, "uploads", "u.txt"), "12345");
    await writeFile(join(root, "secret.txt"), "secret");
    expect(await run({ payload_url: "upload:u.txt" })).toEqual({ kind: "done", changes: { spaceNeeded: 5 } });
    for (const payload_url of ["upload:../../secret.txt", "upload:gone.txt"])
      expect(await run({ payload_url })).toMatchObject({
        kind: "done",
        changes: { spaceNeeded: 0, priorityDelta: 10 },
      });
  });
});

describe("an estimate is never a failure", () => {
  const UNKNOWN = { kind: "done", changes: { spaceNeeded: 0, priorityDelta: 10 } };

  test.each([404, 403, 405, 429, 500, 503])("when HEAD is answered with %d", async (status) => {
    const url = await serve((_request, response) => void response.writeHead(status).end());
    expect(await run({ payload_url: `${url}/a` })).toMatchObject(UNKNOWN);
  });

  test("when the server gives no length, never answers, or hangs up", async () => {
    const lengthless = await serve((_request, response) => void response.writeHead(200).end());
    const silent = await serve(() => undefined);
    const rude = await serve((request) => request.socket.destroy());
    for (const url of [lengthless, silent, rude]) expect(await run({ payload_url: `${url}/a` })).toMatchObject(UNKNOWN);
  });

  test.each(["http://127.0.0.1:1/a", "http://no-such-host.invalid/a", "http://10.0.0.1/a", "ftp://host/a", "no URL"])(
    "when %s cannot or may not be asked",
    async (payload_url) => {
      expect(await run({ payload_url, payload_name: "a" })).toMatchObject(UNKNOWN);
    },
  );

  test("when the manifest is missing or the type unknown", async () => {
    expect(await run({ payload_type: "manifest" }, 2)).toMatchObject(UNKNOWN);
    expect(await run({ payload_type: "container" })).toMatchObject(UNKNOWN);
  });
});
