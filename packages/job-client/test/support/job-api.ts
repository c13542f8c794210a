/** The queue's HTTP door on a real owner: as much of a job-api as a client needs. It can be closed, and come back at its port. */
import type { Authenticator } from "@sluice/access";
import { addOperations, callers, createApp, type HttpServer, listen } from "@sluice/http-api";
import { Errands, type JobPorts, jobOperations, queueOfOwner } from "@sluice/job-doors";
import { ownShard, prepareQueue, type ShardOwner } from "@sluice/job-queue";
import { later, testZooKeeper } from "@sluice/testkit";
import { connectSession, type Session } from "@sluice/zookeeper";

export interface TestApi {
  readonly url: string;
  readonly owner: ShardOwner;
  /** How often a worker has asked to keep its jobs. */
  readonly renewals: () => number;
  /** The queue's clock goes ahead by so much; that of workers does not. */
  advance(ms: number): void;
  /** Nobody answers at its port, and who is connected is cut off. */
  close(): Promise<void>;
  reopen(): Promise<void>;
  end(): Promise<void>;
}

const anybody: Authenticator = {
  authenticate: () =>
    Promise.resolve({
      kind: "caller",
      caller: { id: "token:ada", name: "Ada", role: "admin", scope: "all", tenants: "all" },
    }),
};
const onError = (error: unknown): void => {
  throw error;
};

export async function startJobApi(): Promise<TestApi> {
  const { connect } = await testZooKeeper();
  const session = await connectSession({ connect, timeoutMs: 30_000 });
  const prepared = await prepareQueue(session);
  if (!prepared.ok) throw new Error(prepared.problem);
  let aheadMs = 0;
  const alarms = movableAlarms(() => performance.now() + aheadMs);
  let renewals = 0;
  const owning = await ownShard(0, { session: withClock(session, () => aheadMs), apiId: "api", later: alarms.later });
  if (!owning.ok) throw new Error(owning.why);
  const { owner } = owning;
  const open = async (port: number): Promise<HttpServer> => {
    const app = createApp({ onError }, (each) => {
      each.use((request, _response, next) => {
        if (request.path.endsWith("/renew")) renewals += 1;
        next();
      });
      each.use(callers({ authenticator: anybody }));
      addOperations(each, jobOperations(portsOf(owner)));
    });
    const listening = await listen(app, { port });
    if (!listening.ok) throw new Error(listening.message);
    return listening.server;
  };
  let server = await open(0);
  const { port } = server;
  return {
    url: `http://127.0.0.1:${port}`,
    owner,
    renewals: () => renewals,
    advance: (ms) => {
      aheadMs += ms;
      alarms.ringDue();
    },
    close: () => server.close(0),
    reopen: async () => void (server = await open(port)),
    end: async () => {
      await server.close(0);
      await owner.resign();
      await session.close();
    },
  };
}

/** Alarms of a clock that may be moved: those that are due after a move ring at once. */
function movableAlarms(nowMs: () => number) {
  const set = new Set<{ readonly atMs: number; readonly ring: () => void }>();
  return {
    later: (ms: number, wake: () => void): (() => void) => {
      const alarm = {
        atMs: nowMs() + ms,
        ring: () => {
          stop();
          wake();
        },
      };
      const stopTimer = later(ms, alarm.ring);
      const stop = (): void => {
        stopTimer();
        set.delete(alarm);
      };
      set.add(alarm);
      return stop;
    },
    ringDue: () => {
      for (const alarm of [...set].filter(({ atMs }) => atMs <= nowMs())) alarm.ring();
    },
  };
}

/** The same session, by whose clock it is later. */
const withClock = (session: Session, aheadMs: () => number): Session =>
  new Proxy(session, {
    get: (target, name) => {
      if (name === "serverNowMs") return () => target.serverNowMs() + aheadMs();
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === "function" ? (value.bind(target) as unknown) : value;
    },
  });

/** Of one shard, without handlers, workers and blobs. */
const portsOf = (owner: ShardOwner): JobPorts => ({
  queue: queueOfOwner(owner),
  everyShard: async (command) => new Map([[0, await owner.ask(command)]]),
  addLines: () => Promise.reject(new Error("no journal")),
  take: () => Promise.resolve([]),
  shards: () => [],
  blobs: null,
  leaving: new AbortController().signal,
  hear: () => undefined,
  errands: new Errands(later, {
    onError: (error) => {
      throw error;
    },
  }),
  now: () => Date.now(),
  handlers: {
    put: () => Promise.resolve({ ok: false, why: "no-answer" }),
    get: () => Promise.resolve("silence"),
    list: () => Promise.resolve("silence"),
    remove: () => Promise.resolve("silence"),
  },
  isHandled: () => true,
  audit: () => Promise.resolve(true),
  workers: () => Promise.resolve([]),
});
