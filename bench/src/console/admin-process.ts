/** The admin as it runs in the field: a process of its own, behind its wall, and somebody with a token. */
import { mintToken, printTokenFile } from "@sluice/access";
import { type Client, makeClient } from "@sluice/client";
import { freePort, startChild } from "@sluice/local-parts";
import { randomBytes } from "node:crypto";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));
const START_LIMIT_MS = 60_000;
const LOOK_AGAIN_MS = 100;
/** fsck looks at the whole tree. */
const CALL_LIMIT_MS = 600_000;

export interface AdminProcess {
  readonly pid: number;
  /** Sees and may do everything. */
  readonly admin: Client;
  /** Sees one collection. */
  readonly depositor: Client;
  stop(): Promise<void>;
}

export async function startAdmin(connect: string, dir: string, collection: string): Promise<AdminProcess> {
  const [port, metricsPort] = [await freePort(), await freePort()];
  const tokens = await writeTokens(dir, collection);
  await mkdir(join(dir, "profiles"));
  const logFile = join(dir, "admin.log");
  const child = await startChild({
    command: process.execPath,
    args: ["dist/programs/admin.js"],
    cwd: ROOT,
    logFile,
    env: {
      ...process.env,
      ZOOKEEPER_CONNECT: connect,
      PORT: String(port),
      METRICS_PORT: String(metricsPort),
      WORKING_DIR: dir,
      PROFILES_DIR: join(dir, "profiles"),
      AUTH: "on",
      AUTH_TOKENS_FILE: join(dir, "tokens.json"),
      CALLS_PER_MINUTE: "100000",
    },
  });
  await untilReady(`http://127.0.0.1:${metricsPort}/readyz`, logFile);
  const as = (token: string): Client =>
    makeClient({ baseUrl: `http://127.0.0.1:${port}`, token, timeoutMs: CALL_LIMIT_MS });
  return { pid: child.pid, admin: as(tokens.admin), depositor: as(tokens.depositor), stop: () => child.stop() };
}

async function writeTokens(dir: string, collection: string) {
  const [admin, depositor] = [mintToken(randomBytes), mintToken(randomBytes)];
  const kept = { created: "", created_by: "bench", expires: "2099-01-01T00:00:00Z" };
  await writeFile(
    join(dir, "tokens.json"),
    printTokenFile([
      { id: admin.id, hash: admin.hash, name: "admin", role: "admin", collections: ["*"], ...kept },
      {
        id: depositor.id,
        hash: depositor.hash,
        name: "depositor",
        role: "depositor",
        collections: [collection],
        ...kept,
      },
    ]),
  );
  return { admin: admin.token, depositor: depositor.token };
}

async function untilReady(url: string, logFile: string): Promise<void> {
  const deadlineMs = performance.now() + START_LIMIT_MS;
  while (performance.now() < deadlineMs) {
    const answer = await fetch(url).catch(() => null);
    if (answer?.ok === true) return;
    await sleep(LOOK_AGAIN_MS);
  }
  throw new Error(`the admin was not ready in ${START_LIMIT_MS} ms:\n${await readFile(logFile, "utf8")}`);
}
