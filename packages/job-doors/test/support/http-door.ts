/** The HTTP doors over a queue in memory, for a caller of one's choice. */
import type { Authenticator, Caller } from "@sluice/access";
import { addOperations, callers, createApp, type HttpServer, listen } from "@sluice/http-api";
import type { Handler } from "@sluice/wire";
import { Errands } from "../../src/bedrock/errands.ts";
import { jobOperations } from "../../src/http/operations.ts";
import type { HandlersPort, JobPorts } from "../../src/http/ports.ts";
import { statusOnly, UNKNOWN_OUTCOME } from "../../src/queue-port.ts";
import { readCommand, isStatus } from "@sluice/job-queue";
import type { MemoryQueue } from "./memory-queue.ts";

export const ADA: Caller = {
  id: "token:ada",
  name: "Ada",
  role: "depositor",
  scope: [],
  tenants: ["default", "other"],
};

export async function serveJobs(
  ports: JobPorts,
  caller: Caller = ADA,
  authenticator: Authenticator = { authenticate: () => Promise.resolve({ kind: "caller", caller } as const) },
): Promise<HttpServer> {
  const onError = (error: unknown): void => {
    throw error;
  };
  const app = createApp({ onError }, (router) => {
    router.use(callers({ authenticator }));
    addOperations(router, jobOperations(ports));
  });
  const listening = await listen(app, { port: 0 });
  if (!listening.ok) throw new Error(listening.message);
  return listening.server;
}

const failed = (error: unknown): void => {
  throw error;
};

export const portsOf = (queue: MemoryQueue): JobPorts => ({
  queue,
  async addLines({ tenant, name }, payloads, onFinish) {
    const jobs = JSON.stringify(payloads.map((payload) => ({ name, data: { payload }, onFinish })));
    const command = readCommand("CreateJobs", { jobs }, { tenant, caller: { kind: "timed", worker: "" } });
    if (isStatus(command)) return statusOnly(command);
    return (await queue.ask(tenant, command)) ?? statusOnly(UNKNOWN_OUTCOME);
  },
  everyShard: async (command) => new Map([[0, await queue.ask("", command)]]),
  async take({ worker, tenants, types = ["*"], limit }) {
    const tenant = tenants === "all" ? "default" : (tenants[0] ?? "default");
    const fields = { name: types.join(","), numResults: String(limit) };
    const command = readCommand("GetJobs", fields, { tenant, caller: { kind: "worker", worker } });
    const answer = isStatus(command) ? null : await queue.ask(tenant, command);
    const jobs = answer?.content.kind === "taken" ? answer.content.jobs : [];
    return jobs.map(({ view, token }) => ({ ...view, tenant, token }));
  },
  shards: () => [],
  blobs: null,
  handlers: memoryHandlers(),
  isHandled: () => true,
  workers: () => Promise.resolve([]),
  leaving: new AbortController().signal,
  hear: () => undefined,
  audit: () => Promise.resolve(true),
  errands: new Errands(queue.later, { onError: failed }),
  now: () => queue.now,
});

function memoryHandlers(): HandlersPort {
  const kept: Handler[] = [];
  const of = (tenant: string, type: string): Handler[] =>
    kept.filter((each) => each.tenant === tenant && [each.type, `${each.type}@${each.version}`].includes(type));
  return {
    put(tenant, type, spec, by) {
      const version = of(tenant, type).length + 1;
      const handler = {
        ...spec,
        id: `h${kept.length}`,
        tenant,
        type,
        version,
        created: "2026-11-16T13:00:00.000Z",
        by,
      };
      kept.push(handler);
      return Promise.resolve({ ok: true, handler });
    },
    get: (tenant, type) => Promise.resolve(of(tenant, type).at(-1) ?? null),
    list: (tenant) => Promise.resolve(kept.filter((each) => each.tenant === tenant)),
    remove(tenant, type) {
      const gone = of(tenant, type);
      for (const each of gone) kept.splice(kept.indexOf(each), 1);
      return Promise.resolve(gone.map(({ version }) => version));
    },
  };
}
