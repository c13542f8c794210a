/** A real batch-intake on a real ZooKeeper, with profiles, a working folder and a content server of its own. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, writeFile } from "node:fs/promises";
import type { RequestListener } from "node:http";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import {
  batchFolder,
  type BatchId,
  type BatchView,
  listBucket,
  parseBatchId,
  readBatch,
  readJobs,
} from "@sluice/queue-core";
import { openInventory } from "@sluice/inventory";
import { openProfiles } from "@sluice/profile-store";
import { createEgress, LOOPBACK, PUBLIC_ONLY } from "@sluice/safe-io";
import { makeFailpoints, Service, silentLog } from "@sluice/stage-runtime";
import { testWorker, type TestZooKeeper, waitFor } from "@sluice/testkit";
import { openAcceptedBatches, openBatchFolders, openWorkingFolder } from "@sluice/working-folder";
import { systemClock } from "@sluice/zookeeper";
import { intakeConfig } from "../src/config.ts";
import { openIncoming } from "../src/files/incoming.ts";
import { intakeService } from "../src/intake-service.ts";
import { openBacklog } from "../src/journal/open-backlog.ts";
import { freePort } from "@sluice/local-parts";
import { type Cleanups, fileBatchManifest, serve, temporaryFolder } from "./support.ts";

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));

export const PROFILE_TEXT = (name: string, extra = ""): string =>
  [
    `ProfileID: ${name}`,
    "Collection.1: ark:/99999/m5collection",
    "Type: MRT-curatorial",
    "Role: MRT-content",
    "Owner: ark:/99999/j2owner",
    extra,
  ].join("\n");

export const manifestOf = (rows: number): string =>
  fileBatchManifest(Array.from({ length: rows }, (_, i) => `http://content.example/${i + 1} | | | | | ${i + 1}.txt`));

export interface IntakeSettings {
  readonly env: Readonly<Record<string, string>>;
  readonly url: string;
}

/** Of a batch that was made on this site. */
export const folderOf = ({ operator }: Pick<Site, "operator">, id: string): string =>
  batchFolder({ batchId: parseBatchId(id)!, batchEpoch: operator.identity.epoch });

/** Folders and settings that several intakes can share; each gets a port of its own. */
export async function makeSite(cleanups: Cleanups, zookeeper: TestZooKeeper, content: RequestListener) {
  const root = await temporaryFolder(cleanups);
  const profiles = join(root, "profiles");
  await mkdir(profiles);
  await writeFile(join(profiles, "demo_content"), PROFILE_TEXT("demo_content"));
  await writeFile(join(profiles, "urgent_content"), PROFILE_TEXT("urgent_content", "Priority: 2"));
  const contentUrl = await serve(cleanups, content);
  const operator = await testWorker(zookeeper.connect, "operator", { register: false });
  cleanups.add(() => operator.close());
  const settings = async (more: Readonly<Record<string, string>> = {}): Promise<IntakeSettings> => {
    const port = await freePort();
    const env = {
      ZOOKEEPER_CONNECT: zookeeper.connect,
      WORKING_DIR: join(root, "queue"),
      PROFILES_DIR: profiles,
      JOURNAL_DIR: join(root, "journal", String(port)),
      ALLOW_LOOPBACK: "true",
      PORT: String(port),
      METRICS_PORT: "0",
      WORKER_ID: `intake-${port}`,
      POLL_INTERVAL_MS: "200",
      IDLE_POLL_INTERVAL_MS: "1000",
      ...more,
    };
    return { env, url: `http://127.0.0.1:${port}` };
  };
  return { root, contentUrl, operator, settings };
}
export type Site = Awaited<ReturnType<typeof makeSite>>;

/** Runs an intake in this process until the test ends. */
export async function startIntake(
  cleanups: Cleanups,
  { env, url }: IntakeSettings,
  waitForQueue = true,
): Promise<string> {
  const config = intakeConfig.parse(env);
  const options = intakeService({
    config,
    egress: createEgress({ policy: { ...PUBLIC_ONLY, allow: LOOPBACK } }),
    working: await openWorkingFolder(config.WORKING_DIR),
    folders: await openBatchFolders(config.WORKING_DIR),
    accepted: await openAcceptedBatches(config.WORKING_DIR),
    incoming: await openIncoming(config.WORKING_DIR),
    profiles: await openProfiles(config.PROFILES_DIR),
    journaled: await openBacklog(config, {
      clock: systemClock,
      log: silentLog(),
      failpoint: makeFailpoints("batch-intake", config.FAILPOINTS),
    }),
    hostname: "test",
    archive: config.INVENTORY_URL === undefined ? null : await openInventory(config.INVENTORY_URL),
  });
  const service = new Service(options, {
    clock: systemClock,
    random: Math.random,
    log: silentLog(),
    probe: () => undefined,
  });
  const ended = service.run();
  cleanups.add(async () => {
    service.ring();
    service.ring();
    await ended;
  });
  await (waitForQueue ? untilServed(url) : untilListening(url));
  return url;
}

/** Runs an intake as a process, from what was built; answers how it ended. */
export function spawnIntake(cleanups: Cleanups, { env }: IntakeSettings): Promise<unknown[]> {
  const child = spawn(process.execPath, ["dist/programs/batch-intake.js"], {
    cwd: ROOT,
    env: { PATH: process.env["PATH"], LOG_LEVEL: "silent", ...env },
    stdio: "inherit",
  });
  const ended = once(child, "exit");
  cleanups.add(async () => {
    child.kill("SIGKILL");
    await ended;
  });
  return ended;
}

/** Until it answers at all. */
export const untilListening = (url: string): Promise<boolean> =>
  waitFor(
    () =>
      fetch(`${url}/v1/batches/bid0000009999`).then(
        () => true,
        () => false,
      ),
    { what: "an intake that listens" },
  );

/** Until it answers questions about the queue. */
export const untilServed = (url: string): Promise<boolean> =>
  waitFor(
    () =>
      fetch(`${url}/v1/batches/bid0000009999`).then(
        (answer) => answer.status === 404,
        () => false,
      ),
    {
      what: "an intake that answers",
    },
  );

export async function post(
  url: string,
  body: object,
  key?: string,
): Promise<{ status: number; bid: BatchId; id: string }> {
  const headers = { "content-type": "application/json", ...(key === undefined ? {} : { "idempotency-key": key }) };
  const response = await fetch(`${url}/v1/batches`, { method: "POST", headers, body: JSON.stringify(body) });
  return { status: response.status, ...((await response.json()) as { bid: BatchId; id: string }) };
}

export async function batchNow({ operator }: Site, bid: BatchId): Promise<BatchView> {
  const view = await readBatch(operator.session, bid);
  if (view.kind !== "found") throw new Error(`${bid}: ${view.kind}`);
  return view.value;
}

export const untilBatch = (site: Site, bid: BatchId, holds: (view: BatchView) => boolean): Promise<BatchView> =>
  waitFor(
    async () => {
      const view = await batchNow(site, bid);
      return holds(view) && view;
    },
    { what: `${bid} as expected` },
  );

export const jobsOf = async ({ operator }: Site, bid: BatchId) =>
  (await listBucket(operator.session, bid, "batch-processing")) ?? [];

/** Names of the payloads of a batch's jobs, in the order of the jobs. */
export async function payloadNamesOf(site: Site, bid: BatchId): Promise<readonly (string | undefined)[]> {
  const jobs = await jobsOf(site, bid);
  const names: (string | undefined)[] = [];
  for (let i = 0; i < jobs.length; i += 100) {
    const views = (await readJobs(site.operator.session, jobs.slice(i, i + 100))) ?? [];
    names.push(...views.map((view) => (view.kind === "found" ? view.value.configuration.payload_name : undefined)));
  }
  return names;
}

export const expectedNames = (rows: number): readonly string[] =>
  Array.from({ length: rows }, (_, i) => `${i + 1}.txt`);
