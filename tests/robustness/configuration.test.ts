/**
 * Goal: whoever sets something wrong is told all of it at once, and nothing has happened by then.
 * Method: each service as a process in an empty folder, with a ZooKeeper address that notes who connects.
 */
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { createServer, type AddressInfo, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { startChild } from "@sluice/local-parts";
import { PIPELINE_SERVICES, type ServiceName } from "../support/fleet.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

/** EX_CONFIG of sysexits.h: a supervisor need not start it again. */
const EXIT_CONFIGURATION = "exit code 78";

const EVERY_SERVICE = {
  ZK_SESSION_TIMEOUT_MS: "soon",
  STAGE_CONCURRENCY: "0",
  POLL_INTERVAL_MS: "5000",
  IDLE_POLL_INTERVAL_MS: "1000",
  ATTEMPTS_MAX: "-1",
  METRICS_PORT: "99999",
  LOG_LEVEL: "loud",
  WORKER_ID: "../up",
  FAILPOINTS: "estimator.afterClaim=explode",
};
/** Of its own settings, with relations between them where it has some. */
const OWN: Readonly<Record<ServiceName, Readonly<Record<string, string>>>> = {
  "batch-intake": {
    PORT: "http",
    HOST: "0.0.0.0",
    ALLOW_LOOPBACK: "maybe",
    EGRESS_ALLOW: "10/8",
    UPLOAD_MAX_BYTES: "0",
  },
  estimator: { HEAD_PER_HOST: "50", HEAD_PER_PROCESS: "10", LARGE_JOB_BYTES: "100 GB", EGRESS_ALLOW: "10/8" },
  provisioner: { SPACE_LIMIT: "80", SPACE_LIMIT_UNKNOWN: "all" },
  downloader: {
    FILES_AT_ONCE: "0",
    DOWNLOAD_TRIES: "many",
    FILE_MAX_BYTES: "1.5",
    EGRESS_ALLOW: "10/8",
    EGRESS_PORTS: "http",
    DOWNLOAD_AUTH_FILE: "nowhere.json",
  },
  processor: { STORAGE_URL: "s3:bucket", MINT_URL: "ark", OBJECT_BUSY_WAIT_MS: "0", EGRESS_ALLOW: "10/8" },
  recorder: { INVENTORY_URL: "mysql://db", STORAGE_URL: "nowhere", EGRESS_ALLOW: "10/8" },
  notifier: {
    CALLBACK_TIMEOUT_MS: "1",
    ALLOW_LOOPBACK: "2",
    FAILED_CALLBACK_GIVE_UP_MS: "never",
    EGRESS_ALLOW: "10/8",
  },
  reporter: { MAIL_URL: "pigeon:loft", MAIL_FROM: "nobody", MAIL_BCC: "a@example.org, b", RETENTION_DAYS: "abc" },
  admin: { PORT: "-1", SURVEY_MAX_AGE_MS: "999999" },
  "job-api": {
    PORT: "http",
    PEER_HOST: "0.0.0.0",
    JOURNAL_MAX_BYTES: "1 GB",
    QUEUE_TENANT_SHARDS: "acme=16",
    QUEUE_ENSEMBLE_SHARDS: "west",
  },
  "job-runner": {
    JOB_API_URL: "nowhere",
    NODE_HANDLERS: "free",
    NODE_UID: "0",
    DOCKER_HOST: "/var/run/docker.sock",
    HEARTBEAT_MS: "often",
    EGRESS_ALLOW: "10/8",
  },
  "stage-api": { PORT: "-1", STAGES: "recorder provisioner", LEASE_MS: "0", AUTH: "perhaps", WORKERS_MAX: "many" },
};
/** A relation blames one of the two. */
const BLAMELESS = new Set(["POLL_INTERVAL_MS", "HEAD_PER_PROCESS"]);

let folder: string;
let zookeeper: Server;
let visitors = 0;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "sluice-configuration-"));
  zookeeper = createServer((socket) => {
    visitors += 1;
    socket.destroy();
  });
  await new Promise<void>((resolve) => zookeeper.listen(0, "127.0.0.1", resolve));
});
afterAll(async () => {
  zookeeper.close();
  await rm(folder, { recursive: true, force: true });
});

interface Ending {
  readonly reason: string;
  readonly said: string;
  /** What it left where it ran. */
  readonly left: readonly string[];
}

async function runToItsEnd(service: ServiceName, env: Readonly<Record<string, string>>): Promise<Ending> {
  const cwd = await mkdtemp(join(folder, "run-"));
  const logFile = join(folder, `${service}.log`);
  await rm(logFile, { force: true });
  const child = await startChild({
    command: process.execPath,
    args: [join(ROOT, `dist/programs/${service}.js`)],
    cwd,
    logFile,
    // Nothing of the surroundings: a setting there would be a setting here.
    env: { PATH: process.env["PATH"], ...env },
  });
  const reason = await child.exited;
  return { reason, said: await readFile(logFile, "utf8"), left: await readdir(cwd) };
}

describe("a service with a wrong configuration", () => {
  test.each([...PIPELINE_SERVICES, "admin", "job-api", "job-runner", "stage-api"] as const)(
    "%s names every wrong variable in one message, and ends with code 78 before it has touched anything",
    async (service) => {
      const port = (zookeeper.address() as AddressInfo).port;
      const wrong = { ...EVERY_SERVICE, ...OWN[service] };
      const { reason, said, left } = await runToItsEnd(service, { ...wrong, ZOOKEEPER_CONNECT: `127.0.0.1:${port}` });

      expect(reason).toBe(EXIT_CONFIGURATION);
      const [title, ...lines] = said.trimEnd().split("\n");
      expect(title).toBe(`${service}: wrong configuration`);
      const blamed = lines.map((line) => /^ {2}([A-Z_]+): \S/.exec(line)?.[1] ?? line);
      const expected = Object.keys(wrong).filter((name) => !BLAMELESS.has(name));
      expect([...new Set(blamed)].sort()).toEqual(expected.sort());
      expect(left).toEqual([]);
      expect(visitors).toBe(0);
    },
  );

  test("says what is missing, and what is no address", async () => {
    const none = await runToItsEnd("estimator", {});
    expect([none.reason, none.said]).toEqual([
      EXIT_CONFIGURATION,
      expect.stringContaining("ZOOKEEPER_CONNECT: is required"),
    ]);
    const odd = await runToItsEnd("estimator", { ZOOKEEPER_CONNECT: "zk:port/" });
    expect([odd.reason, odd.said]).toEqual([EXIT_CONFIGURATION, expect.stringContaining("ZOOKEEPER_CONNECT: ")]);
  });
});
