/** A whole job-api beside a test's admin, with the same tokens. */
import { readConfig, Service, silentLog } from "@sluice/stage-runtime";
import { waitFor } from "@sluice/testkit";
import { systemClock } from "@sluice/zookeeper";
import { once } from "node:events";
import { createServer, type AddressInfo } from "node:net";
import { join } from "node:path";
import { jobApiConfig, RELATIONS } from "../../../job-api/src/config.ts";
import { jobApiService } from "../../../job-api/src/job-api-service.ts";
import type { TestAdmin } from "../support.ts";

/** The admin must know it before there is a job-api, and the job-api needs the admin's tokens. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}

export interface TestJobApi {
  readonly url: string;
  stop(): Promise<void>;
}

export async function startJobApi(connect: string, port: number, { dir, tokens }: TestAdmin): Promise<TestJobApi> {
  const env = {
    ZOOKEEPER_CONNECT: connect,
    ZK_SESSION_TIMEOUT_MS: "20000",
    METRICS_PORT: "0",
    PORT: String(port),
    BEDROCK_PORT: "0",
    PEER_PORT: "0",
    SHUTDOWN_GRACE_MS: "2000",
    AUTH: "on",
    AUTH_TOKENS_FILE: join(dir, "tokens.json"),
    JOB_STORE_DIR: join(dir, "job-store"),
    JOURNAL_DIR: join(dir, "job-journal"),
  };
  const read = readConfig(jobApiConfig, env, { relations: RELATIONS });
  if (!read.ok) throw new Error(read.problems.join("\n"));
  const host = { clock: systemClock, random: Math.random, log: silentLog(), probe: () => undefined };
  const service = new Service(jobApiService(read.config), host);
  const ended = service.run();
  const url = `http://127.0.0.1:${port}`;
  const headers = { authorization: `Bearer ${tokens.viewer}` };
  await waitFor(async () => (await fetch(`${url}/v1/tenants`, { headers }).catch(() => null))?.ok === true);
  return {
    url,
    async stop() {
      service.ring();
      await ended;
    },
  };
}
