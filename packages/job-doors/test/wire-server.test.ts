/** Bedrock's protocol over real sockets, with the owner of a shard on a real ZooKeeper. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { type Command, ownShard, prepareQueue, type ShardOwner } from "@sluice/job-queue";
import { later, testZooKeeper, waitFor, WireClient } from "@sluice/testkit";
import { connectSession, type Session } from "@sluice/zookeeper";
import type { WireServer, WireServerOptions } from "../src/bedrock/wire-server.ts";
import { listenOnWire } from "../src/bedrock/wire-server.ts";
import { type Later, queueOfOwner } from "../src/queue-port.ts";
import { contentOf, statusOf } from "./support/wire-talk.ts";

let session: Session;
let owner: ShardOwner;
const asked: Command[] = [];
const servers: WireServer[] = [];
const clients: WireClient[] = [];
let server: WireServer;
let name = "";
let tests = 0;

beforeAll(async () => {
  const { connect } = await testZooKeeper();
  session = await connectSession({ connect, timeoutMs: 10_000 });
  const prepared = await prepareQueue(session);
  if (!prepared.ok) throw new Error(prepared.problem);
  const owning = await ownShard(0, { session, apiId: "api", later });
  if (!owning.ok) throw new Error(owning.why);
  owner = owning.owner;
});
afterAll(async () => {
  await owner.resign();
  await session.close();
});
beforeEach(async () => {
  server = await open();
  asked.length = 0;
  name = `job-${++tests}`;
});
afterEach(async () => {
  for (const client of clients.splice(0)) client.socket.destroy();
  await Promise.all(servers.splice(0).map((each) => each.close()));
});

async function open(options: Partial<WireServerOptions> = {}): Promise<WireServer> {
  const queue = queueOfOwner(owner);
  const listening = await listenOnWire({
    port: 0,
    queue: {
      ...queue,
      ask: (tenant, command) => {
        asked.push(command);
        return queue.ask(tenant, command);
      },
      wait: (tenant, command, timeoutMs, gone) => {
        asked.push(command);
        return queue.wait(tenant, command, timeoutMs, gone);
      },
    },
    now: () => session.serverNowMs(),
    later,
    admit: () => ({ tenant: "default" }),
    hear: () => undefined,
    onError: (error) => {
      throw error;
    },
    ...options,
  });
  if (!listening.ok) throw new Error(listening.message);
  servers.push(listening.server);
  return listening.server;
}

function client(of = server): WireClient {
  const made = new WireClient(of.port);
  clients.push(made);
  return made;
}

const isRenewed = async (jobID: number): Promise<true> =>
  waitFor(() =>
    asked.some((command) => command.verb === "RenewLeases" && command.leases.some(({ id }) => id === jobID))
      ? true
      : undefined,
  );
const idOf = (answer: string): number => (contentOf(answer) as { jobID: number }).jobID;
const stateOf = async (jobID: number): Promise<unknown> =>
  (contentOf(await client().say("QueryJob", `jobID: ${jobID}`)) as { state: string }).state;

describe("over TCP", () => {
  test("a job is created, taken, finished; requests may come all at once and are answered in order", async () => {
    const nc = client();
    const jobID = idOf(await nc.say("CreateJob", `name: ${name}`, 'data: {"value":1}'));
    nc.send(
      ["GetJob", `name: ${name}`, "", "QueryJob / HTTP/1.1", `jobID: ${jobID}`].join("\r\n"),
      "",
      "FinishJob",
      `jobID: ${jobID}`,
      "",
      "QueryJob",
      `jobID: ${jobID}`,
    );
    expect(contentOf(await nc.answer())).toEqual({ data: { value: 1 }, jobID, name });
    expect(contentOf(await nc.answer())).toMatchObject({ state: "RUNNING" });
    expect(await nc.answer()).toBe("200 OK\n\n");
    expect(await nc.answer()).toBe("404 No job with this jobID\n\n");
  });

  test("a worker that waits on one connection gets what comes over another", async () => {
    const worker = client();
    worker.send("GetJob", `name: ${name}`, "connection: wait", "timeout: 60000");
    const jobID = idOf(await client().say("CreateJob", `name: ${name}`));
    expect(idOf(await worker.answer())).toBe(jobID);
  });

  test("who sends everything and closes their side gets all answers, and is not kept waiting for jobs", async () => {
    const pipe = client();
    pipe.send("CreateJob", `name: ${name}`, "", "GetJob", `name: ${name}-none`, "connection: wait");
    pipe.socket.end();
    expect(statusOf(await pipe.answer())).toBe("200 OK");
    expect(statusOf(await pipe.answer())).toBe("404 No job found");
    await waitFor(() => (pipe.isClosed ? true : undefined));
  });

  test("a job belongs to its connection while that lives, and is nobody's afterwards", async () => {
    const worker = client();
    const jobID = idOf(await worker.say("CreateJob", `name: ${name}`));
    await worker.say("GetJob", `name: ${name}`, "leaseMs: 3000");
    await isRenewed(jobID);
    expect(await stateOf(jobID)).toBe("RUNNING");
    worker.socket.destroy();
    const next = client();
    next.send("GetJob", `name: ${name}`, "connection: wait", "timeout: 60000");
    expect(idOf(await next.answer())).toBe(jobID);
  });

  test("who is cut off while a job is on its way to them has not taken it", async () => {
    let letGo: () => void = () => undefined;
    const held = new Promise<void>((resolve) => (letGo = resolve));
    let isTaken = false;
    const slow = await open({
      queue: {
        ...queueOfOwner(owner),
        ask: async (_, command) => {
          const answer = await owner.ask(command);
          if (command.verb === "GetJobs") {
            isTaken = true;
            await held;
          }
          return answer;
        },
      },
    });
    const jobID = idOf(await client().say("CreateJob", `name: ${name}`));
    const worker = client(slow);
    worker.send("GetJob", `name: ${name}`);
    await waitFor(() => (isTaken ? true : undefined));
    worker.socket.resetAndDestroy();
    await waitFor(() => (worker.isClosed ? true : undefined));
    // Its server has heard of it when it has answered somebody who came later.
    await client(slow).say("QueryJob", "jobID: 1");
    letGo();
    await waitFor(async () => ((await stateOf(jobID)) === "QUEUED" ? true : undefined));
  });

  test("junk is refused and ends the connection", async () => {
    const stranger = client();
    stranger.socket.write(Buffer.from([0x16, 0x03, 0x01, 0x02, 0x0a]));
    expect(await stranger.answer()).toBe("400 Malformed request\n\n");
    await waitFor(() => (stranger.isClosed ? true : undefined));
  });

  test("who says nothing is sent away; who holds a job is not", async () => {
    const idle = new Set<() => void>();
    const byHand: Later = (ms, wake) => {
      if (ms !== 12_345) return later(ms, wake);
      idle.add(wake);
      return () => idle.delete(wake);
    };
    const strict = await open({ limits: { idleMs: 12_345 }, later: byHand });
    const timeIsOver = (): void => {
      for (const wake of [...idle]) if (idle.delete(wake)) wake();
    };
    const worker = client(strict);
    await client().say("CreateJob", `name: ${name}`);
    const jobID = idOf(await worker.say("GetJob", `name: ${name}`));
    const silent = client(strict);
    const slow = client(strict);
    slow.socket.write("CreateJob\nname: never");
    await waitFor(() => (idle.size === 3 ? true : undefined));
    timeIsOver();
    await waitFor(() => (silent.isClosed && slow.isClosed ? true : undefined));
    expect(await worker.say("FinishJob", `jobID: ${jobID}`)).toBe("200 OK\n\n");
    timeIsOver();
    await waitFor(() => (worker.isClosed ? true : undefined));
  });

  test("who sends without reading is not read from, and loses nothing", async () => {
    const eager = client();
    eager.socket.pause();
    const many = 3000;
    eager.socket.write(`Dance\nx: ${"x".repeat(100)}\n\n`.repeat(many));
    // Another one is served meanwhile.
    expect(statusOf(await client().say("QueryJob", "jobID: 999999"))).toBe("404 No job with this jobID");
    eager.socket.resume();
    for (let n = 0; n < many; n++) expect(statusOf(await eager.answer())).toBe("430 Unrecognized command");
  });

  test("a server that closes answers what is being asked, and nobody new", async () => {
    const waiting = client();
    waiting.send("GetJob", `name: ${name}`, "connection: wait", "timeout: 60000");
    await waitFor(() => (asked.some(({ verb }) => verb === "GetJobs") ? true : undefined));
    const closing = server.close();
    expect(statusOf(await waiting.answer())).toBe("404 No job found");
    await closing;
    const late = client();
    await waitFor(() => (late.isClosed ? true : undefined));
    servers.length = 0;
  });

  test("a port that is taken is a value", async () => {
    const again = await listenOnWire({
      port: server.port,
      queue: queueOfOwner(owner),
      now: () => 0,
      later,
      admit: () => ({ tenant: "default" }),
      hear: () => undefined,
      onError: () => undefined,
    });
    expect(again).toMatchObject({ ok: false, message: expect.stringContaining("EADDRINUSE") as unknown });
  });
});
