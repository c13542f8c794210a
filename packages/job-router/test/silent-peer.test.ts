/** A peer that falls silent: what it has got is not known, and what comes after that is not given to it. */
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { later, waitFor } from "@sluice/testkit";
import { TIMEOUT_MS } from "../src/peer/link.ts";
import type { Peers } from "../src/peer/peers.ts";
import { PeerServer } from "../src/peer/server.ts";
import { askingPeers, SECRET, silent } from "./support/peers.ts";
import { commandOf } from "./support/routers.ts";
import { startTcpProxy, type TcpProxy } from "./support/tcp-proxy.ts";

let server: PeerServer;
let proxy: TcpProxy;
let peers: Peers;

beforeEach(async () => {
  server = new PeerServer({
    apiId: "owner",
    listen: { host: "127.0.0.1", port: 0 },
    secret: SECRET,
    later,
    log: silent,
    desk: {
      ask: () =>
        Promise.resolve({ kind: "reply", reply: { status: { code: 200, text: "OK" }, content: { kind: "none" } } }),
      wait: () => Promise.resolve({ kind: "unknown" }),
      handOver: () => undefined,
    },
    giveBack: () => undefined,
    onPeer: () => undefined,
  });
  proxy = await startTcpProxy();
  proxy.lead((await server.open()).port);
  // The peer's silence is what this test waits for.
  peers = askingPeers((ms, wake) => later(ms === TIMEOUT_MS ? 100 : ms, wake));
  peers.review(new Map([["owner", { host: "127.0.0.1", port: proxy.port }]]));
  await waitFor(() => peers.isUp("owner"), { what: "a connection" });
});
afterEach(async () => {
  peers.close();
  proxy.close();
  await server.close();
});

test("a request right after a peer was found silent is surely not done", async () => {
  const seen = { term: 1, apiId: "owner" };
  const create = commandOf("CreateJob", { name: "a" });
  proxy.swallow(true);
  expect(await peers.ask(0, seen, create)).toEqual({ kind: "unknown" });
  // In the same turn of the event loop: its socket is destroyed, and the "close" event is still to come.
  expect(peers.isUp("owner")).toBe(false);
  expect(await peers.ask(0, seen, create)).toMatchObject({ kind: "not-done" });
});
