/** Each API once, in this process, with as little behind it as answers: what counts is who comes so far. */
import { type Authenticator, type Caller, isRole, type Role } from "@sluice/access";
import { type createApp, listen, makeGuesses, type WallOptions } from "@sluice/http-api";
import { Errands, jobOperations } from "@sluice/job-doors";
import { silentLog } from "@sluice/stage-runtime";
import { systemClock } from "@sluice/zookeeper";
import { randomBytes } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { MemoryQueue } from "../../packages/job-doors/test/support/memory-queue.ts";
import { portsOf } from "../../packages/job-doors/test/support/http-door.ts";
import { adminApp } from "../../services/admin/src/http/app.ts";
import { addConsole } from "../../services/admin/src/http/console.ts";
import type { AdminDeps } from "../../services/admin/src/http/deps.ts";
import { makeSessions } from "../../services/admin/src/http/sessions.ts";
import { makeApp } from "../../services/batch-intake/src/http/app.ts";
import type { HttpDeps } from "../../services/batch-intake/src/http/deps.ts";
import { startApp } from "../../services/batch-intake/test/http-support.ts";
import { type Cleanups, temporaryFolder } from "../../services/batch-intake/test/support.ts";
import { jobApp } from "../../services/job-api/src/http-app.ts";
import { purgeOperation } from "../../services/job-api/src/purge.ts";
import { stageApp } from "../../services/stage-api/src/http/app.ts";

type Express = ReturnType<typeof createApp>;

export interface Api {
  readonly app: Express;
  readonly url: string;
}

/** Bound to nothing; to what is asked for; to something else. */
export const SCOPES = ["all", "own", "other"] as const;
export type Scope = (typeof SCOPES)[number];

export const OWN = { collection: "demo_content", tenant: "acme", stage: "estimator" } as const;
export const BOUND = {
  all: { scope: "all", tenants: "all", stages: "all" },
  own: { scope: [OWN.collection], tenants: [OWN.tenant], stages: [OWN.stage] },
  other: { scope: ["other_content"], tenants: ["other"], stages: ["notifier"] },
} as const satisfies Record<Scope, Pick<Caller, "scope" | "tenants" | "stages">>;

export const credentialsFor = (role: Role, scope: Scope): string => `Bearer ${role}.${scope}`;

export const authenticator: Authenticator = {
  authenticate(credentials) {
    if (credentials === undefined) return Promise.resolve({ kind: "anonymous" });
    const [role, scope] = credentials.replace("Bearer ", "").split(".");
    const bound = SCOPES.find((each) => each === scope);
    if (!isRole(role) || bound === undefined) return Promise.resolve({ kind: "refused", why: "nobody" });
    const caller: Caller = { id: `token:${role}${bound}`, name: role, role, ...BOUND[bound] };
    return Promise.resolve({ kind: "caller", caller });
  },
};

const wallOf = (by: Authenticator): WallOptions => ({ authenticator: by, callsPerMinute: 1_000_000, hosts: "any" });

/** Whatever is asked of it fails. */
const fails = (): never => {
  throw new Error("there is nothing");
};
const nothing = (): never => new Proxy({}, { get: () => fails }) as never;

const ignored = (): void => undefined;
const uncounted = (): never =>
  new Proxy({}, { get: () => ({ inc: ignored, set: ignored, observe: ignored }) }) as never;

async function served(app: Express, cleanups: Cleanups): Promise<Api> {
  const listening = await listen(app, { port: 0 });
  if (!listening.ok) throw new Error(listening.message);
  cleanups.add(() => listening.server.close(0));
  return { app, url: listening.server.url };
}

/** `more` instead of what answers as little as possible. */
export async function openIntake(
  cleanups: Cleanups,
  by: Authenticator = authenticator,
  more: (deps: HttpDeps) => Partial<HttpDeps> = () => ({}),
): Promise<Api> {
  const { deps } = await startApp(cleanups, 1_000_000, 100, wallOf(by));
  return served(makeApp({ ...deps, ...more(deps) }), cleanups);
}

/** `jobApiUrl`: what is asked under /v1/queue/ goes there. */
export async function openAdmin(cleanups: Cleanups, jobApiUrl: string): Promise<Api> {
  const console = await temporaryFolder(cleanups);
  await writeFile(join(console, "index.html"), "<!doctype html>");
  await writeFile(join(console, "app-0123456789abcdef.js"), "");
  const deps: AdminDeps = {
    queue: () => null,
    clock: systemClock,
    log: silentLog(),
    metrics: uncounted(),
    index: nothing(),
    overviews: nothing(),
    history: nothing(),
    profiles: { names: () => [], get: () => ({ ok: false, problem: "there is none" }) },
    archive: null,
    topics: nothing(),
    tokenEnds: () => Promise.resolve([]),
    intakeUrl: null,
    randomBytes,
    settings: { version: "1", workingDir: "/nowhere", outboxDir: null, logsDir: null, auditKeysFile: null },
  };
  const { monotonicMs } = systemClock;
  const app = adminApp({
    deps,
    authenticator,
    sessions: makeSessions({ idleMs: 1e6, maxMs: 1e6, alwaysSecure: false, monotonicMs, randomBytes }),
    limits: wallOf(authenticator),
    trustedProxies: [],
    jobApiUrl,
    pages: (router) => addConsole(router, console),
  });
  return served(app, cleanups);
}

const failed = (error: unknown): never => {
  throw error;
};

/** And how to make a deposit for later there: answers with its number. */
export async function openJobApi(
  cleanups: Cleanups,
  by: Authenticator = authenticator,
): Promise<Api & { readonly newDeposit: () => Promise<number> }> {
  const queue = new MemoryQueue();
  const app = jobApp({
    operations: [
      ...jobOperations({ ...portsOf(queue), errands: new Errands(queue.later, { onError: failed }) }),
      purgeOperation({ runs: () => Promise.resolve(0), blobs: () => Promise.resolve(0) }, 1),
    ],
    wall: { ...wallOf(by), guesses: makeGuesses() },
    trustedProxies: [],
    metrics: uncounted(),
    log: silentLog(),
    version: "1",
  });
  const api = await served(app, cleanups);
  const newDeposit = async (): Promise<number> => {
    const made = await fetch(`${api.url}/v1/tenants/system/commands/CreateJob`, {
      method: "POST",
      headers: { authorization: credentialsFor("admin", "all"), "content-type": "application/json" },
      body: '{"name":"fleet/deposit"}',
    });
    return ((await made.json()) as { readonly jobID: number }).jobID;
  };
  return { ...api, newDeposit };
}

export async function openStageApi(cleanups: Cleanups, by: Authenticator = authenticator): Promise<Api> {
  const app = stageApp({
    deps: {
      seats: nothing(),
      peers: nothing(),
      service: { actor: { stage: "stage-api", worker: "x" }, queue: () => null },
      config: { STAGES: [OWN.stage], LEASE_MS: 1_000, CLAIMS_PER_WORKER: 1 },
      metrics: uncounted(),
      log: silentLog(),
      leaving: new AbortController().signal,
    },
    wall: wallOf(by),
    trustedProxies: [],
    metrics: uncounted(),
    log: silentLog(),
    version: "1",
  });
  return served(app, cleanups);
}
