/** Routers on a real ZooKeeper, several in one process. */
import {
  type Answer,
  type Command,
  DEFAULT_TENANT,
  isStatus,
  readCommand,
  shardOfTenant,
  type Taken,
} from "@sluice/job-queue";
import { later, waitFor } from "@sluice/testkit";
import { keepSession, type SessionKeeper, systemClock } from "@sluice/zookeeper";
import { openJobRouter } from "../../src/router.ts";
import type { RouterPorts } from "../../src/ports.ts";
import type { JobRouter } from "../../src/types.ts";

const silent = { info: () => undefined, warn: () => undefined, error: () => undefined };

export interface TestRouter {
  readonly apiId: string;
  readonly router: JobRouter;
  readonly keeper: SessionKeeper;
  /** As SIGTERM does. */
  stop(): Promise<void>;
  /** The session ends too. */
  close(): Promise<void>;
}

export type RouterOptions = Partial<Omit<RouterPorts, "apiId" | "session">> & { readonly sessionMs?: number };

export async function startRouter(connect: string, apiId: string, options: RouterOptions = {}): Promise<TestRouter> {
  const { sessionMs = 30_000, ...ports } = options;
  const keeper = keepSession({ connect, timeoutMs: sessionMs });
  const router = await openJobRouter({
    apiId,
    session: keeper,
    peers: { listen: { host: "127.0.0.1", port: 0 }, secret: "a secret of the test" },
    clock: systemClock,
    later,
    log: silent,
    ...ports,
  }).catch(async (error: unknown) => {
    await keeper.close();
    throw error;
  });
  return {
    apiId,
    router,
    keeper,
    stop: () => router.stop(),
    close: async () => {
      await router.stop();
      await keeper.close();
    },
  };
}

/** Every shard has an owner, and each of these routers knows it. */
export async function settled(...routers: readonly TestRouter[]): Promise<void> {
  await waitFor(
    () => {
      const views = routers.map(({ router }) =>
        router.shards().map(({ owner, term }) => `${owner ?? ""}.${term ?? 0}`),
      );
      const [first] = views;
      return first?.every((each) => !each.startsWith(".")) === true && new Set(views.map(String)).size === 1;
    },
    { what: "an owner for each shard" },
  );
}

export function commandOf(
  verb: string,
  params: Readonly<Record<string, string | number>> = {},
  tenant = DEFAULT_TENANT,
): Command {
  const fields = Object.fromEntries(Object.entries(params).map(([name, value]) => [name, String(value)]));
  const read = readCommand(verb, fields, { tenant, caller: { kind: "worker", worker: "w" } });
  if (isStatus(read)) throw new Error(read.text);
  return read;
}

export type GetJobs = Extract<Command, { verb: "GetJobs" }>;
export const getJob = (name: string, tenant = DEFAULT_TENANT): GetJobs =>
  commandOf("GetJob", { name }, tenant) as GetJobs;

export const idOf = (answer: Answer): number => {
  if (answer?.content.kind !== "ids") throw new Error(`no id: ${answer?.status.text ?? "unknown"}`);
  return answer.content.ids[0]!;
};

export const takenOf = (answer: Answer): Taken | null =>
  answer?.content.kind === "taken" ? (answer.content.jobs[0] ?? null) : null;

/** A tenant whose shard this router owns. */
export function tenantOwnedBy(owner: TestRouter, prefix = "t"): string {
  const owned = new Set(
    owner.router
      .shards()
      .filter(({ state }) => state === "here")
      .map(({ shard }) => shard),
  );
  for (let n = 0; n < 1000; n++) if (owned.has(shardOfTenant(`${prefix}${n}`))) return `${prefix}${n}`;
  throw new Error(`${owner.apiId} owns no shard of tenants`);
}
