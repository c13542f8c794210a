/** Deposits for later as real processes: a job-api that keeps them, an intake that takes them, a runner that runs them. */
import { mintToken, printTokenFile, type TokenRecord } from "@sluice/access";
import { type Client, makeClient } from "@sluice/client";
import { freePort } from "@sluice/local-parts";
import { randomBytes } from "node:crypto";
import { mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Fleet, makeFleet, PROFILE, type Running, untilReady } from "./fleet.ts";

/** Tokens of people and services, in a file that is replaced whole, as an operator does it. */
export interface TokenBook {
  readonly file: string;
  /** Answers with the token itself. */
  give(about: Partial<TokenRecord> & Pick<TokenRecord, "name">): Promise<string>;
  /** Gives the record of that name other values. */
  change(name: string, about: Partial<TokenRecord>): Promise<void>;
  revoke(name: string): Promise<void>;
}

export async function openTokenBook(folder: string): Promise<TokenBook> {
  const file = join(folder, "tokens.json");
  let records: readonly TokenRecord[] = [];
  const keep = async (now: readonly TokenRecord[]): Promise<void> => {
    records = now;
    await replace(file, printTokenFile(records));
  };
  await keep([]);
  return {
    file,
    async give(about) {
      const { id, token, hash } = mintToken(randomBytes);
      const times = { created: "2026-01-01T00:00:00Z", created_by: "test", expires: "2099-01-01T00:00:00Z" };
      await keep([...records, { id, hash, role: "depositor", collections: [PROFILE], ...times, ...about }]);
      return token;
    },
    change: (name, about) => keep(records.map((each) => (each.name === name ? { ...each, ...about } : each))),
    revoke: (name) => keep(records.filter((each) => each.name !== name)),
  };
}

/** Nobody reads half a file. */
async function replace(file: string, text: string): Promise<void> {
  await writeFile(`${file}.new`, text);
  await rename(`${file}.new`, file);
}

const SERVICES = ["scheduler", "runner", "maintainer"] as const;
type ServiceRole = (typeof SERVICES)[number];

export interface ScheduleFleet {
  readonly fleet: Fleet;
  readonly tokens: TokenBook;
  readonly intake: Running;
  readonly jobApi: Running;
  readonly runner: Running;
  /** At the intake, and at the job-api. */
  readonly at: (where: Running, token: string) => Client;
  /** A new token in the place of the service's old one, which is worth nothing from then on. */
  rotate(role: ServiceRole): Promise<void>;
  stop(): Promise<void>;
}

export interface ScheduleFleetOptions {
  readonly zookeeper: string;
  readonly env?: Readonly<Record<string, string>>;
}

export async function startScheduleFleet({ zookeeper, env = {} }: ScheduleFleetOptions): Promise<ScheduleFleet> {
  const folder = await mkdtemp(join(tmpdir(), "sluice-schedules-"));
  const tokens = await openTokenBook(folder);
  const fileOf = (role: ServiceRole): string => join(folder, `${role}-token`);
  const rotate = async (role: ServiceRole): Promise<void> => {
    await tokens.revoke(role);
    await replace(fileOf(role), `${await tokens.give({ name: role, role, collections: ["*"] })}\n`);
  };
  for (const role of SERVICES) await rotate(role);
  const fleet = await makeFleet({ zookeeper, env: { AUTH: "on", AUTH_TOKENS_FILE: tokens.file, ...env } });
  const [jobApiPort, intakePort] = [await freePort(), await freePort()];
  const [jobApiUrl, intakeUrl] = [`http://127.0.0.1:${jobApiPort}`, `http://127.0.0.1:${intakePort}`];
  const jobApi = await fleet.start("job-api", { PORT: String(jobApiPort) });
  await untilReady(jobApi);
  const intake = await fleet.start("batch-intake", {
    PORT: String(intakePort),
    JOB_API_URL: jobApiUrl,
    JOB_API_TOKEN_FILE: fileOf("scheduler"),
    // As often as the queue can: tests wait for runs, not for hours.
    SCHEDULE_INTERVAL_MIN_MS: "0",
  });
  const runner = await fleet.start("job-runner", {
    JOB_API_URL: jobApiUrl,
    JOB_API_TOKEN_FILE: fileOf("runner"),
    SYSTEM_SCHEDULES: "true",
    INTAKE_URL: intakeUrl,
    ADMIN_TOKEN_FILE: fileOf("maintainer"),
    NODE_HANDLERS: "off",
  });
  await Promise.all([intake, runner].map(untilReady));
  return {
    fleet,
    tokens,
    intake: { ...intake, url: intakeUrl },
    jobApi: { ...jobApi, url: jobApiUrl },
    runner,
    at: ({ url }, token) => makeClient({ baseUrl: url, token }),
    rotate,
    async stop() {
      await fleet.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
