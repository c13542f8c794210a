/** The real services as real processes, on a ZooKeeper and a folder of the test's own. */
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Child, freePort, startChild } from "@sluice/local-parts";
import { type BatchId, parseBatchId, paths, type Stage, STAGES } from "@sluice/queue-core";
import { makeTree, waitFor } from "@sluice/testkit";
import { type Access, connectSession, OPEN_ACCESS } from "@sluice/zookeeper";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
/** Every stage is a service; the others are none. */
export const PIPELINE_SERVICES = STAGES;
export type ServiceName = Stage | "admin" | "job-api" | "job-runner" | "stage-api";

export interface Running {
  readonly service: ServiceName;
  readonly metricsUrl: string;
  readonly url: string;
  readonly child: Child;
  readonly log: () => Promise<string>;
}

export interface FleetOptions {
  readonly zookeeper: string;
  readonly sessionMs?: number;
  readonly callbackUrl?: string;
  /** More lines of the profile. */
  readonly profile?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Depositors are told that a batch is queued, which they are by default: tests count mails. */
  readonly queuedMails?: true;
  /** `none`: the test makes it, or brings one. */
  readonly tree?: "made" | "none";
  /** Of the test's own session; what the services need stands in `env`. */
  readonly access?: Access;
}

export interface Fleet {
  readonly dataDir: string;
  start(service: ServiceName, env?: Readonly<Record<string, string>>): Promise<Running>;
  startAll(services?: readonly ServiceName[]): Promise<readonly Running[]>;
  submit(intake: Running, body: Readonly<Record<string, unknown>>): Promise<BatchId>;
  /** Ends everything that runs, and removes the folder. */
  stop(): Promise<void>;
}

export const PROFILE = "sluice_test_content";

const profileText = ({ callbackUrl, queuedMails, profile = [] }: FleetOptions): string =>
  [
    `ProfileID: ${PROFILE}`,
    "ProfileDescription: Content of tests",
    "Identifier-scheme: ARK",
    "Identifier-namespace: 99999",
    "Collection.1: ark:/99999/fk4test0collection",
    "Type: MRT-curatorial",
    "Role: MRT-content",
    "Aggregate:",
    "Owner: ark:/99999/fk4test0owner",
    "Notification.1: depositor@example.org",
    "StorageNode: 1",
    ...(callbackUrl === undefined ? [] : [`CallbackURL: ${callbackUrl}`]),
    ...(queuedMails === true ? [] : ["NotificationSuppression: partial"]),
    ...profile,
    "",
  ].join("\n");

export async function makeFleet(options: FleetOptions): Promise<Fleet> {
  if (options.tree !== "none") await makeTree(options.zookeeper, options.access);
  const dataDir = await mkdtemp(join(tmpdir(), "sluice-fleet-"));
  for (const folder of ["queue", "profiles", "store", "outbox", "logs"]) await mkdir(join(dataDir, folder));
  await writeFile(join(dataDir, "profiles", PROFILE), profileText(options));
  const children = new Set<Child>();
  let count = 0;
  let stopped = false;
  // Whoever starts after one that died takes over its volume, and with it what it had journaled.
  const freeJournals: string[] = [];

  async function start(service: ServiceName, env: Readonly<Record<string, string>> = {}): Promise<Running> {
    if (stopped) throw new Error(`${service} is not started: the fleet was stopped`);
    const [metricsPort, port] = [await freePort(), await freePort()];
    const [bedrockPort, peerPort] = service === "job-api" ? [await freePort(), await freePort()] : [0, 0];
    const name = `${service}-${++count}`;
    const logFile = join(dataDir, "logs", `${name}.log`);
    const keepsJournal = service === "batch-intake";
    const journal = (keepsJournal ? freeJournals.pop() : undefined) ?? join(dataDir, "journal", name);
    const child = await startChild({
      command: process.execPath,
      args: ["--enable-source-maps", `dist/programs/${service}.js`],
      cwd: ROOT,
      logFile,
      env: {
        ...process.env,
        ZOOKEEPER_CONNECT: options.zookeeper,
        ZK_SESSION_TIMEOUT_MS: String(options.sessionMs ?? 10_000),
        WORKING_DIR: join(dataDir, "queue"),
        PROFILES_DIR: join(dataDir, "profiles"),
        STORAGE_URL: `ocfl:${join(dataDir, "store")}`,
        INVENTORY_URL: `sqlite:${join(dataDir, "inventory.db")}`,
        MAIL_URL: `outbox:${join(dataDir, "outbox")}`,
        ALLOW_LOOPBACK: "true",
        // However full the disk of this machine is, what tests deposit fits on it.
        SPACE_LIMIT: "0.99",
        SPACE_LIMIT_UNKNOWN: "0.99",
        METRICS_PORT: String(metricsPort),
        PORT: String(port),
        WORKER_ID: name,
        JOURNAL_DIR: journal,
        JOB_STORE_DIR: join(dataDir, "job-store"),
        BEDROCK_PORT: String(bedrockPort),
        PEER_PORT: String(peerPort),
        ...options.env,
        ...env,
      },
    });
    children.add(child);
    void child.exited.then(() => {
      children.delete(child);
      if (keepsJournal) freeJournals.push(journal);
    });
    const metricsUrl = `http://127.0.0.1:${metricsPort}`;
    return { service, metricsUrl, url: `http://127.0.0.1:${port}`, child, log: () => readFile(logFile, "utf8") };
  }

  return {
    dataDir,
    start,
    startAll: async (services = PIPELINE_SERVICES) => {
      const running = await Promise.all(services.map((service) => start(service)));
      await Promise.all(running.map((each) => untilReady(each)));
      return running;
    },
    submit: async (intake, body) => {
      const answer = await fetch(`${intake.url}/v1/batches`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ profile: PROFILE, submitter: "test", ...body }),
      });
      const text = await answer.text();
      if (!answer.ok) throw new Error(`not accepted: ${answer.status} ${text}`);
      return await numberOf(options, JSON.parse(text) as { readonly id: string; readonly bid: string | null });
    },
    stop: async () => {
      stopped = true;
      await Promise.all([...children].map((child) => child.kill("SIGKILL")));
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

export const readyz = async (running: Running): Promise<number | null> =>
  (await fetch(`${running.metricsUrl}/readyz`).catch(() => null))?.status ?? null;

/** Throws with the service's last words when it ends instead. */
export async function untilReady(running: Running): Promise<void> {
  const ended: string[] = [];
  void running.child.exited.then((reason) => ended.push(reason));
  await waitFor(async () => ended.length > 0 || (await readyz(running)) === 200, {
    what: `${running.service} ready`,
  });
  for (const reason of ended) throw new Error(`${running.service}: ${reason}: ${await lastWords(running)}`);
}

const lastWords = async ({ log }: Running): Promise<string> => (await log()).slice(-2_000);

/** What came while the intake had no session, as on a machine that is busy, waits in its journal: its number is in the tree later. */
async function numberOf(
  { zookeeper, access = OPEN_ACCESS }: FleetOptions,
  accepted: { readonly id: string; readonly bid: string | null },
): Promise<BatchId> {
  if (accepted.bid !== null) return batchIdOf(accepted.bid);
  const session = await connectSession({ connect: zookeeper, timeoutMs: 30_000, access });
  try {
    const found: string[] = [];
    const look = async (): Promise<boolean> => {
      const node = await session.get(`${paths.batchUuids}/${accepted.id}`);
      if (node.ok) found.push(node.value.data.toString());
      return node.ok;
    };
    await waitFor(look, { what: `a number for ${accepted.id}` });
    return batchIdOf(found[0] ?? "");
  } finally {
    await session.close();
  }
}

function batchIdOf(raw: string): BatchId {
  const id = parseBatchId(raw);
  if (id === null) throw new Error(`no batch: ${raw}`);
  return id;
}
