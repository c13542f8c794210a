/** A line that was cut before the answer, to an owner that no longer knows what it did. */
import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { afterEach, expect, test } from "@jest/globals";
import type { Reply } from "@sluice/job-queue";
import { later, waitFor } from "@sluice/testkit";
import type { Peers } from "../src/peer/peers.ts";
import { PeerServer } from "../src/peer/server.ts";
import type { Attempt } from "../src/routing.ts";
import { startTcpProxy, type TcpProxy } from "./support/tcp-proxy.ts";
import { askingPeers, SECRET, silent } from "./support/peers.ts";
import { commandOf } from "./support/routers.ts";

const OK: Reply = { status: { code: 200, text: "OK" }, content: { kind: "ids", ids: [1], single: true } };

const open: { close(): unknown }[] = [];
afterEach(async () => {
  for (const each of open.splice(0).reverse()) await each.close();
});

interface Desk {
  readonly server: PeerServer;
  readonly done: string[];
  answer(): void;
}

/** Answers when it is told to. `forgets`: a minute is over at once. */
async function startDesk(forgets: boolean): Promise<Desk & { readonly port: number }> {
  const done: string[] = [];
  const answers: (() => void)[] = [];
  const server = new PeerServer({
    apiId: "owner",
    listen: { host: "127.0.0.1", port: 0 },
    secret: SECRET,
    later: (ms, wake) => later(forgets && ms >= 5_000 ? 0 : ms, wake),
    log: silent,
    desk: {
      ask: (_shard, _term, command) => {
        done.push(command.verb);
        return new Promise<Attempt>((resolve) => answers.push(() => resolve({ kind: "reply", reply: OK })));
      },
      wait: () => Promise.resolve({ kind: "unknown" }),
      handOver: () => undefined,
    },
    giveBack: () => undefined,
    onPeer: () => undefined,
  });
  const { port } = await server.open();
  open.push(server);
  return { server, done, port, answer: () => answers.splice(0).forEach((each) => each()) };
}

async function silentPort(): Promise<number> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => void sockets.add(socket.on("error", () => undefined)));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  open.push({
    close: () => {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  });
  return (server.address() as AddressInfo).port;
}

async function connected(proxy: TcpProxy): Promise<Peers> {
  const peers = askingPeers();
  open.push(peers);
  peers.review(new Map([["owner", { host: "127.0.0.1", port: proxy.port }]]));
  await waitFor(() => peers.isUp("owner"), { what: "a connection" });
  return peers;
}

test.each([
  ["remembers", false, { kind: "reply" }],
  ["has forgotten", true, { kind: "unknown" }],
] as const)("a request that was cut off is done once by an owner that %s", async (_, forgets, expected) => {
  const desk = await startDesk(forgets);
  const proxy = await startTcpProxy();
  open.push(proxy);
  proxy.lead(desk.port);
  const peers = await connected(proxy);
  const asked = peers.ask(0, { term: 1, apiId: "owner" }, commandOf("CreateJob", { name: "a" }));
  await waitFor(() => desk.done.length === 1, { what: "the request" });
  // Until then its calls reach somebody who says nothing.
  proxy.lead(await silentPort());
  proxy.cut();
  await waitFor(() => !peers.isUp("owner"), { what: "the line to be down" });
  await waitFor(() => desk.server.hasPeers !== forgets, { what: "what the owner remembers" });
  proxy.lead(desk.port);
  proxy.cut();
  await waitFor(() => peers.isUp("owner"), { what: "the line to be up" });
  desk.answer();
  expect(await asked).toMatchObject(expected);
  expect(desk.done).toEqual(["CreateJobs"]);
});
