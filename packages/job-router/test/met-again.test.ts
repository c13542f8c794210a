/** A peer whose session ended and that came back: the process is the same, and so is what it remembers. */
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import type { Command, Reply } from "@sluice/job-queue";
import { later, waitFor } from "@sluice/testkit";
import type { Peers } from "../src/peer/peers.ts";
import { PeerServer } from "../src/peer/server.ts";
import type { Address } from "../src/ports.ts";
import { askingPeers, SECRET, silent } from "./support/peers.ts";
import { commandOf } from "./support/routers.ts";

let server: PeerServer;
let peers: Peers;
let address: Address;
let done: Command[];

/** How the owner answers: with the number of what it has done. */
const numbered = (): Reply => ({
  status: { code: 200, text: "OK" },
  content: { kind: "ids", ids: [done.length], single: true },
});

beforeEach(async () => {
  done = [];
  server = new PeerServer({
    apiId: "owner",
    listen: { host: "127.0.0.1", port: 0 },
    secret: SECRET,
    later,
    log: silent,
    desk: {
      ask: (_shard, _term, command) => {
        done.push(command);
        return Promise.resolve({ kind: "reply", reply: numbered() });
      },
      wait: () => Promise.resolve({ kind: "unknown" }),
      handOver: () => undefined,
    },
    giveBack: () => undefined,
    onPeer: () => undefined,
  });
  address = await server.open();
  // Who is gone is forgotten after a second.
  peers = askingPeers((ms, wake) => later(ms === 1_000 ? 1 : ms, wake));
});
afterEach(async () => {
  peers.close();
  await server.close();
});

test("a request is never answered with what another one was told before", async () => {
  const seen = { term: 1, apiId: "owner" };
  const create = commandOf("CreateJob", { name: "a" });
  for (const n of [1, 2]) {
    peers.review(new Map([["owner", address]]));
    await waitFor(() => peers.isUp("owner"), { what: "a connection" });
    expect(await peers.ask(0, seen, create)).toMatchObject({ kind: "reply", reply: { content: { ids: [n] } } });
    peers.review(new Map());
    await waitFor(() => !peers.isUp("owner"), { what: "the peer to be forgotten" });
  }
  expect(done).toHaveLength(2);
});
