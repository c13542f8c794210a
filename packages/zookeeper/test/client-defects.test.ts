/**
 * What node-zookeeper-client 1.1.3 does wrong, each shown to be harmless at our surface. N and M are the numbers of
 * the table in the README. Where our code stands in place of the client's the behaviour is tested all the same: the
 * next version of either may differ.
 */
import { createServer, type AddressInfo } from "node:net";
import { once } from "node:events";
import { connect as connectTcp } from "node:net";
import { describe, expect, test } from "@jest/globals";
import { openLink } from "../src/adapter.ts";
import { makeCommitter, OPEN_ACCESS, openSession, RIGHTS, type Op } from "../src/index.ts";
import { OPCODE, XID } from "../src/wire/codes.ts";
import { encodeExists } from "../src/wire/requests.ts";
import { replyFrame, watchEventFrame } from "./support/frames.ts";
import { opcodeOf, pass, xidOf } from "./support/fault-proxy.ts";
import { portOf, text, TIMEOUT_MS, untilState, useZooKeeper } from "./support/bundle.ts";

const zk = useZooKeeper();

/** For tests that send so much that it may take longer than a short session's deadline. */
const PATIENT_MS = 30_000;

async function throughProxy(timeoutMs = TIMEOUT_MS) {
  const proxy = await zk.proxy();
  const chroot = await zk.freshChroot();
  const session = await zk.session({ connect: proxy.address + chroot, timeoutMs });
  return { proxy, chroot, session };
}

const create = (path: string): Op => ({ op: "create", path, data: text("") });

describe("versions and values", () => {
  test("version 0 means version 0, in a check, a set and a delete (N1)", async () => {
    const session = await zk.session();
    await session.multi([create("/a")]);
    await session.multi([{ op: "set", path: "/a", data: text("1"), version: 0 }]);
    const stale: Op[] = [
      { op: "check", path: "/a", version: 0 },
      { op: "set", path: "/a", data: text("2"), version: 0 },
      { op: "delete", path: "/a", version: 0 },
    ];
    for (const op of stale) expect(await session.multi([op])).toMatchObject({ code: "BAD_VERSION", index: 0 });
    expect(await session.get("/a")).toMatchObject({ ok: true, value: { data: text("1"), stat: { version: 1 } } });
  });

  test("a version below 0, the protocol's word for any, is refused here", async () => {
    const { proxy, session } = await throughProxy();
    const before = proxy.requests.filter((frame) => opcodeOf(frame) === OPCODE.multi).length;
    const any = -1;
    expect(await session.multi([create("/a"), { op: "delete", path: "/a", version: any }])).toMatchObject({
      code: "BAD_ARGUMENTS",
      index: 1,
    });
    expect(proxy.requests.filter((frame) => opcodeOf(frame) === OPCODE.multi)).toHaveLength(before);
  });

  test("empty data can be set, and comes back empty (N13)", async () => {
    const session = await zk.session();
    await session.multi([{ op: "create", path: "/a", data: text("x") }]);
    await session.multi([{ op: "set", path: "/a", data: Buffer.alloc(0), version: 0 }]);
    const seen = await session.get("/a");
    expect(seen.ok && seen.value.data).toHaveLength(0);
  });

  test("longs are bigints that compare (N14)", async () => {
    const session = await zk.session();
    const made = await session.multi([{ op: "create", path: "/mine", data: text(""), ephemeral: true }]);
    const seen = await session.exists("/mine");
    expect(seen).toMatchObject({ ok: true, value: { ephemeralOwner: session.id, czxid: made.ok && made.zxid } });
  });

  test("a wrong path is an answer, not an exception (N12)", async () => {
    const session = await zk.session();
    for (const path of ["", "a", "/a/", "/a//b", "/a/../b", "/a\u0000"]) {
      expect(await session.get(path)).toMatchObject({ ok: false, code: "BAD_ARGUMENTS" });
      expect(await session.readMany([{ children: path }])).toMatchObject({ ok: false, code: "BAD_ARGUMENTS" });
      expect(await session.multi([create("/fine"), create(path)])).toMatchObject({ code: "BAD_ARGUMENTS", index: 1 });
    }
    expect(await session.exists("/fine")).toEqual({ ok: true, value: null });
  });
});

describe("a server that says nothing", () => {
  test("a silent partition is noticed, and the session goes on when it ends in time (N2)", async () => {
    const { proxy, session } = await throughProxy();
    proxy.blackhole(true);
    const call = session.multi([create("/a")]);
    await untilState(session, "suspended");
    expect(await call).toMatchObject({ ok: false, code: "UNKNOWN", index: -1 });
    proxy.blackhole(false);
    expect(await session.untilConnected()).toBe(true);
    expect(await session.exists("/")).toMatchObject({ ok: true });
  });

  test("a server that accepts and never answers is left for another one (N3)", async () => {
    const silent = createServer((socket) => socket.on("error", () => socket.destroy())).listen(0, "127.0.0.1");
    await once(silent, "listening");
    const hung = `127.0.0.1:${(silent.address() as AddressInfo).port}`;
    // The order of the servers is shuffled: of ten clients some begin with the silent one.
    const connect = `${hung},${zk.server.connect}`;
    const sessions = await Promise.all(
      Array.from({ length: 10 }, () => zk.session({ connect, connectWithinMs: 20_000 })),
    );
    expect(sessions.map((session) => session.state)).toEqual(Array(10).fill("connected"));
    silent.close();
  });

  test("if only such a server is there, opening fails with the reason (N3)", async () => {
    const silent = createServer((socket) => socket.on("error", () => socket.destroy())).listen(0, "127.0.0.1");
    await once(silent, "listening");
    const connect = `127.0.0.1:${(silent.address() as AddressInfo).port}`;
    const opened = await openSession({ connect, timeoutMs: 300 });
    expect(opened).toEqual({
      ok: false,
      why: `no ZooKeeper answers at ${connect} (no answer to the connect request)`,
    });
    silent.close();
  });

  test("no server at all is said, with address and cause (M14)", async () => {
    const probe = createServer().listen(0, "127.0.0.1");
    await once(probe, "listening");
    const connect = `127.0.0.1:${(probe.address() as AddressInfo).port}`;
    probe.close();
    await once(probe, "close");
    const opened = await openSession({ connect, timeoutMs: 300 });
    expect(opened).toEqual({
      ok: false,
      why: expect.stringMatching(`^no ZooKeeper answers at ${connect} \\(.*ECONNREFUSED`),
    });
  });
});

describe("a connection that breaks", () => {
  test("in the middle of a frame does no harm to the next one (N4)", async () => {
    const { proxy, session } = await throughProxy();
    proxy.onReply = (frame) => {
      proxy.onReply = pass;
      return { cutAfter: frame.subarray(0, 9) };
    };
    expect(await session.exists("/")).toMatchObject({ ok: false, code: "UNKNOWN" });
    expect(await session.untilConnected()).toBe(true);
    expect(await session.exists("/")).toMatchObject({ ok: true });
  });

  test("and stays away: a call gets NOT_SENT at its deadline, and never runs later (N5, M6)", async () => {
    const { proxy, session } = await throughProxy();
    proxy.accept(false);
    proxy.cut();
    await untilState(session, "suspended");
    expect(await session.multi([create("/late")])).toMatchObject({ ok: false, code: "NOT_SENT", index: -1 });
    proxy.accept(true);
    expect(await session.untilConnected()).toBe(true);
    expect(await session.barrier()).toBe(true);
    expect(await session.exists("/late")).toEqual({ ok: true, value: null });
  });

  test("for good: every call that waits is answered when the session is lost (N5)", async () => {
    const { proxy, session } = await throughProxy();
    proxy.accept(false);
    proxy.cut();
    await untilState(session, "suspended");
    const waitedAWhile = session.exists("/");
    expect(await waitedAWhile).toMatchObject({ ok: false, code: "NOT_SENT" });
    const stillWaiting = session.exists("/");
    expect(await stillWaiting).toMatchObject({ ok: false, code: "SESSION_LOST" });
    expect(session.lost.aborted).toBe(true);
  });

  test("is made anew with credentials and watches before the calls that wait, once each (N6, N7)", async () => {
    const proxy = await zk.proxy();
    const chroot = await zk.freshChroot();
    const session = await zk.session({
      connect: proxy.address + chroot,
      timeoutMs: PATIENT_MS,
      access: {
        ...OPEN_ACCESS,
        credentials: () => [{ scheme: "digest", secret: "worker:secret" }],
        aclOf: () => [{ permissions: RIGHTS.all, scheme: "auth", id: "" }],
      },
    });
    await session.multi([create("/guarded")]);
    let fired = 0;
    await session.get("/guarded", () => (fired += 1));
    const stranger = await zk.session({ connect: zk.server.connect + chroot });
    expect(await stranger.get("/guarded")).toMatchObject({ ok: false, code: "NO_AUTH" });

    // Five connections are accepted and broken before the server's answer.
    let failures = 0;
    proxy.onReply = (frame) => {
      failures += 1;
      if (failures === 5) proxy.onReply = pass;
      return { cutAfter: frame.subarray(0, 2) };
    };
    proxy.cut();
    await untilState(session, "suspended");
    const waiting = session.get("/guarded");
    expect(await waiting).toMatchObject({ ok: true });
    const last = proxy.requests.findLastIndex((frame) => xidOf(frame) === 0 && frame.length === 48);
    const order = proxy.requests.slice(last + 1).map(opcodeOf);
    expect(order.filter((opcode) => opcode !== OPCODE.ping)).toEqual([OPCODE.auth, OPCODE.setWatches, OPCODE.getData]);
    await session.multi([{ op: "set", path: "/guarded", data: text("new"), version: 0 }]);
    expect(fired).toBe(1);
  });

  test("never makes a write go out twice (N9)", async () => {
    const { proxy, session } = await throughProxy();
    proxy.onRequest = (frame) => {
      if (opcodeOf(frame) !== OPCODE.multi) return "pass";
      proxy.onRequest = pass;
      proxy.cut();
      return "swallow";
    };
    expect(await session.multi([create("/once")])).toMatchObject({ code: "UNKNOWN" });
    expect(await session.untilConnected()).toBe(true);
    await session.barrier();
    expect(await session.exists("/once")).toEqual({ ok: true, value: null });
  });

  test("with more watches than fit in one frame: all of them live on (M10)", async () => {
    const { proxy, chroot, session } = await throughProxy(PATIENT_MS);
    const paths = Array.from({ length: 12_000 }, (_, i) => `/${"a-long-node-name-".repeat(5)}${i}`);
    let fired = 0;
    await Promise.all(paths.map((path) => session.exists(path, () => (fired += 1))));
    const connectionsBefore = proxy.connections;
    proxy.cut();
    await untilState(session, "suspended");
    expect(await session.untilConnected()).toBe(true);
    expect(await session.exists("/")).toMatchObject({ ok: true });
    expect(proxy.connections).toBe(connectionsBefore + 1);
    const other = await zk.session({ connect: zk.server.connect + chroot });
    await other.multi([create(paths[0]!), create(paths[11_999]!)]);
    await session.barrier();
    expect(fired).toBe(2);
  });
});

describe("what a server may say", () => {
  test.each([-118, -124, -125, -9999])("error %i, unknown to the client, is SERVER_ERROR (M7)", async (err) => {
    const { proxy, session } = await throughProxy();
    proxy.onReply = (frame) => {
      if (xidOf(frame) < 0) return "pass";
      proxy.onReply = pass;
      return { instead: replyFrame(xidOf(frame), err) };
    };
    expect(await session.exists("/")).toMatchObject({
      ok: false,
      code: "SERVER_ERROR",
      detail: `server error ${err}: /`,
    });
    expect(await session.exists("/")).toMatchObject({ ok: true });
  });

  test("an event of an unknown kind is passed over, and so is one nobody asked for (N12)", async () => {
    const { proxy, session } = await throughProxy();
    proxy.inject(watchEventFrame(99, "/x"));
    proxy.inject(watchEventFrame(3, "/nobody/asked"));
    expect(await session.exists("/")).toMatchObject({ ok: true });
    expect(proxy.connections).toBe(1);
  });

  test.each([
    ["an empty frame", Buffer.alloc(4)],
    ["a negative length", Buffer.from("80000000", "hex")],
    ["an answer to nothing", replyFrame(4711, 0)],
    ["half an event", Buffer.from("00000014" + "ffffffff" + "0000000000000000" + "00000000" + "00000003", "hex")],
  ])("%s costs the connection, not the process and not the session (N12)", async (_name, bytes) => {
    const { proxy, session } = await throughProxy();
    proxy.inject(bytes);
    await untilState(session, "suspended");
    expect(await session.untilConnected()).toBe(true);
    expect(await session.exists("/")).toMatchObject({ ok: true });
    expect(proxy.connections).toBe(2);
  });

  test("an answer that does not belong to the oldest call leaves no call without an answer (N12)", async () => {
    const { proxy, session } = await throughProxy();
    proxy.onReply = (frame) => {
      if (xidOf(frame) < 0) return "pass";
      proxy.onReply = pass;
      return { instead: replyFrame(xidOf(frame) + 1000, 0) };
    };
    const answers = await Promise.all([session.exists("/"), session.multi([create("/a")])]);
    expect(answers).toMatchObject([{ code: "UNKNOWN" }, { code: "UNKNOWN" }]);
  });

  test("thousands of answers in one chunk are no recursion (N13)", async () => {
    const session = await zk.session({ timeoutMs: PATIENT_MS });
    const answers = await Promise.all(Array.from({ length: 20_000 }, () => session.exists("/")));
    expect(answers.every((answer) => answer.ok)).toBe(true);
  });
});

describe("limits", () => {
  test("a request over the limit is not sent, and its neighbours and connection stay (N10)", async () => {
    const { proxy, session } = await throughProxy();
    const huge: Op = { op: "create", path: "/huge", data: Buffer.alloc(600_000) };
    const [before, over, after] = await Promise.all([
      session.multi([create("/before")]),
      session.multi([huge]),
      session.multi([create("/after")]),
    ]);
    expect(over).toEqual({ ok: false, code: "NOT_SENT", index: -1, detail: expect.stringContaining("524288") });
    expect([before.ok, after.ok]).toEqual([true, true]);
    expect(proxy.connections).toBe(1);
    const committer = makeCommitter(session);
    const answers = await Promise.all([
      committer.submit({ rank: "claim", ops: [create("/x")] }),
      committer.submit({ rank: "claim", ops: [huge] }),
      committer.submit({ rank: "claim", ops: [create("/y")] }),
    ]);
    expect(answers.map((answer) => (answer.ok ? "ok" : answer.code))).toEqual(["ok", "NOT_SENT", "ok"]);
  });

  test("numbers of requests begin at 1, and again after the last one (N8)", async () => {
    const proxy = await zk.proxy();
    const [host, port] = proxy.address.split(":");
    const replies: Promise<unknown>[] = [];
    await new Promise<void>((connected) => {
      const link = openLink(
        {
          servers: [{ host: host!, port: Number(port) }],
          timeoutMs: TIMEOUT_MS,
          monotonicMs: () => performance.now(),
          openSocket: connectTcp,
          lastXid: 3,
        },
        {
          greeting: () => [],
          connected: () => {
            for (let i = 0; i < 8; i++) {
              replies.push(new Promise((resolve) => link.send(encodeExists("/", false), resolve)));
            }
            void Promise.all(replies).then(() => link.end());
            connected();
          },
          heard: () => undefined,
          notified: () => undefined,
          disconnected: () => undefined,
          refused: () => undefined,
        },
      );
    });
    expect(await Promise.all(replies)).toMatchObject([1, 2, 3, 1, 2, 3, 1, 2].map((xid) => ({ xid, err: 0 })));
  });
});

describe("life and death of a client", () => {
  test("opening can be given up at once, also before there is a socket (M8)", async () => {
    const stop = new AbortController();
    const opening = openSession({ connect: zk.server.connect, timeoutMs: TIMEOUT_MS, signal: stop.signal });
    stop.abort();
    expect(await opening).toMatchObject({ ok: false });
    const stopped = openSession({ connect: zk.server.connect, timeoutMs: TIMEOUT_MS, signal: AbortSignal.abort() });
    expect(await stopped).toMatchObject({ ok: false });
  });

  test("a session can be closed while it has no connection (M8)", async () => {
    const { proxy, session } = await throughProxy();
    proxy.accept(false);
    proxy.cut();
    await untilState(session, "suspended");
    await session.close();
    expect(session.state).toBe("lost");
    expect(await session.exists("/")).toMatchObject({ ok: false, code: "SESSION_LOST" });
  });

  test("pings go out while frames only come in (M9)", async () => {
    const { proxy, session } = await throughProxy();
    const traffic = setInterval(() => proxy.inject(watchEventFrame(3, "/noise")), 10);
    let pings = 0;
    await new Promise<void>((enough) => {
      proxy.onRequest = (frame) => {
        if (xidOf(frame) === XID.ping && (pings += 1) === 20) enough();
        return "pass";
      };
    });
    clearInterval(traffic);
    // Twelve go in a session timeout: without them the server would have ended this session.
    expect(session.state).toBe("connected");
    expect(await session.exists("/")).toMatchObject({ ok: true });
    expect(proxy.connections).toBe(1);
  });

  test("when the session is lost its watches stay silent, and the signal tells (M13)", async () => {
    const { proxy, session } = await throughProxy();
    let fired = 0;
    await session.exists("/a", () => (fired += 1));
    const told = once(session.lost, "abort");
    proxy.accept(false);
    proxy.cut();
    await told;
    expect([fired, session.state, await session.untilConnected()]).toEqual([0, "lost", false]);
  });

  test("sockets come from the caller if he wants: the way for TLS (N11)", async () => {
    const asked: unknown[] = [];
    const session = await zk.session({
      connect: "zookeeper.example:2281",
      access: {
        ...OPEN_ACCESS,
        openSocket: (server) => {
          asked.push(server);
          return connectTcp({ host: "127.0.0.1", port: portOf(zk.server.connect) });
        },
      },
    });
    expect(await session.exists("/")).toMatchObject({ ok: true });
    expect(asked).toEqual([{ host: "zookeeper.example", port: 2281 }]);
  });
});
