/** Job-apis as real processes, on a ZooKeeper and a folder of the test's own. */
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { mintToken, printTokenFile, type TokenRecord } from "@sluice/access";
import { type Child, freePort, startChild } from "@sluice/local-parts";
import { makeTree, waitFor } from "@sluice/testkit";
import { randomBytes } from "node:crypto";

const MAIN = fileURLToPath(new URL("../../../../dist/programs/job-api.js", import.meta.url));
export const PEER_SECRET = randomBytes(24).toString("hex");

export interface JobApi {
  readonly name: string;
  readonly url: string;
  readonly metricsUrl: string;
  readonly bedrockPort: number;
  readonly child: Child;
  readonly log: () => Promise<string>;
}

export interface House {
  readonly folder: string;
  start(name: string, env?: Readonly<Record<string, string>>): Promise<JobApi>;
  /** A token for such a caller. */
  token(about: Partial<TokenRecord>): Promise<string>;
  end(): Promise<void>;
}

export async function openHouse(zookeeper: string): Promise<House> {
  await makeTree(zookeeper);
  const folder = await mkdtemp(join(tmpdir(), "sluice-job-api-"));
  const tokensFile = join(folder, "tokens.json");
  await writeFile(tokensFile, printTokenFile([]));
  await writeFile(join(folder, "secret"), PEER_SECRET);
  const records: TokenRecord[] = [];
  const children: Child[] = [];
  return {
    folder,
    async start(name, env = {}) {
      const [port, metrics, bedrockPort] = [await freePort(), await freePort(), await freePort()];
      const logFile = join(folder, `${name}-${port}.log`);
      const child = await startChild({
        command: process.execPath,
        cwd: folder,
        args: [MAIN],
        logFile,
        env: {
          ...process.env,
          ZOOKEEPER_CONNECT: zookeeper,
          ZK_SESSION_TIMEOUT_MS: "4000",
          WORKER_ID: name,
          AUTH: "on",
          AUTH_TOKENS_FILE: tokensFile,
          PORT: String(port),
          METRICS_PORT: String(metrics),
          BEDROCK_PORT: String(bedrockPort),
          PEER_PORT: "0",
          JOB_PEER_SECRET_FILE: join(folder, "secret"),
          JOB_STORE_DIR: join(folder, "store"),
          JOURNAL_DIR: join(folder, "journal", name),
          ...env,
        },
      });
      children.push(child);
      const metricsUrl = `http://127.0.0.1:${metrics}`;
      await waitFor(async () => (await fetch(`${metricsUrl}/readyz`).catch(() => null))?.ok === true);
      const log = (): Promise<string> => readFile(logFile, "utf8");
      return { name, url: `http://127.0.0.1:${port}`, metricsUrl, bedrockPort, child, log };
    },
    async token(about) {
      const { id, token, hash } = mintToken(randomBytes);
      const times = { created: "2026-01-01T00:00:00Z", expires: "2099-01-01T00:00:00Z" };
      records.push({
        id,
        name: "Ada",
        role: "operator",
        collections: ["*"],
        hash,
        created_by: "test",
        ...times,
        ...about,
      });
      await writeFile(tokensFile, printTokenFile(records));
      return token;
    },
    async end() {
      await Promise.all(children.map((child) => child.kill("SIGKILL")));
      await rm(folder, { recursive: true, force: true });
    },
  };
}
