/** A whole admin over a real tree, with a token and a client for each role. */
import { mintToken, printTokenFile, type Role, ROLES, type TokenRecord } from "@sluice/access";
import { type Answer, type Client, makeClient, type Refusal } from "@sluice/client";
import { type Log, readConfig, Service, silentLog } from "@sluice/stage-runtime";
import { makeTree, waitFor } from "@sluice/testkit";
import { systemClock } from "@sluice/zookeeper";
import { randomBytes } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { adminService } from "../src/admin-service.ts";
import { adminConfig, ADMIN_RELATIONS } from "../src/config.ts";
import type { Outside } from "../src/serve-fleet.ts";

/** The depositor's; the builders of the testkit submit here. */
export const COLLECTION = "sluice_demo_content";

export interface TestAdmin {
  readonly url: string;
  readonly opsUrl: string;
  readonly dir: string;
  readonly tokens: Readonly<Record<Role, string>>;
  readonly as: (role: Role) => Client;
  readonly withToken: (token: string) => Client;
  stop(): Promise<void>;
}

const NO_PROFILES: Outside["profiles"] = {
  names: () => [COLLECTION],
  get: (name) => ({ ok: false, problem: `there is no profile ${name}` }),
};

export function aTokenFor(role: Role, collections: readonly string[], name: string = role): [string, TokenRecord] {
  const { id, token, hash } = mintToken(randomBytes);
  const expires = "2099-01-01T00:00:00Z";
  return [token, { id, name, role, collections: [...collections], hash, created: "", created_by: "test", expires }];
}

export interface AdminOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly outside?: Partial<Outside>;
  /** Besides one of each role. */
  readonly more?: readonly TokenRecord[];
  readonly log?: Log;
}

export async function startAdmin(connect: string, options: AdminOptions = {}): Promise<TestAdmin> {
  await makeTree(connect);
  const dir = await mkdtemp(join(tmpdir(), "sluice-admin-"));
  const made = ROLES.map((role) => [role, aTokenFor(role, role === "depositor" ? [COLLECTION] : ["*"])] as const);
  const tokensFile = join(dir, "tokens.json");
  await writeFile(tokensFile, printTokenFile([...made.map(([, [, record]]) => record), ...(options.more ?? [])]));
  const env = {
    ZOOKEEPER_CONNECT: connect,
    ZK_SESSION_TIMEOUT_MS: "20000",
    METRICS_PORT: "0",
    PORT: "0",
    SURVEY_MAX_AGE_MS: "0",
    SHUTDOWN_GRACE_MS: "2000",
    WORKING_DIR: dir,
    AUTH: "on",
    AUTH_TOKENS_FILE: tokensFile,
    CALLS_PER_MINUTE: "100000",
    ...options.env,
  };
  const read = readConfig(adminConfig, env, { relations: ADMIN_RELATIONS });
  if (!read.ok) throw new Error(read.problems.join("\n"));
  const urls: string[] = [];
  const outside: Outside = {
    profiles: NO_PROFILES,
    archive: null,
    ...options.outside,
    onListening: (url) => urls.push(url),
  };
  const log = options.log ?? silentLog();
  const host = { clock: systemClock, random: Math.random, log, probe: () => undefined };
  const service = new Service(adminService(read.config, outside), host);
  const ended = service.run();
  const url = await waitFor(() => urls[0]);
  const opsUrl = await waitFor(() => service.opsUrl);
  await waitFor(async () => (await fetch(`${opsUrl}/readyz`)).ok);
  const tokens = Object.fromEntries(made.map(([role, [token]]) => [role, token])) as Record<Role, string>;
  const withToken = (token: string): Client => makeClient({ baseUrl: url, token });
  return {
    url,
    opsUrl,
    dir,
    tokens,
    as: (role) => withToken(tokens[role]),
    withToken,
    async stop() {
      service.ring();
      await ended;
      await rm(dir, { recursive: true, force: true });
    },
  };
}

/** The value of an answer that must be one. */
export function valueOf<T>(answer: Answer<T>): T {
  if (!answer.ok) throw new Error(JSON.stringify(answer));
  return answer.value;
}

/** The refusal that an answer must be. */
export function refusalOf(answer: Answer<unknown>): Refusal {
  if (answer.ok || answer.kind !== "refused") throw new Error(`not refused: ${JSON.stringify(answer)}`);
  return answer.refusal;
}
