import { once } from "node:events";
import { describe, expect, test } from "@jest/globals";
import { OPEN_ACCESS, type Clock, type Op, type SessionState } from "../src/index.ts";
import { stateOf } from "../src/session-health.ts";
import { OPCODE, XID } from "../src/wire/codes.ts";
import { text, untilState, useZooKeeper } from "./support/bundle.ts";
import { opcodeOf, pass, xidOf } from "./support/fault-proxy.ts";

const zk = useZooKeeper();
const create = (path: string, ephemeral = false): Op => ({
  op: "create",
  path,
  data: text(""),
  ...(ephemeral && { ephemeral: true }),
});

/** A clock that the test moves on, by any amount and at once: what a process sees that was stopped for a while. */
function leapingClock(): Clock & { leap(ms: number): void; stop(): void } {
  let ahead = 0;
  let stoppedAt: number | null = null;
  return {
    nowMs: () => Date.now(),
    monotonicMs: () => stoppedAt ?? performance.now() + ahead,
    leap: (ms) => (ahead += ms),
    stop: () => (stoppedAt = performance.now() + ahead),
  };
}

describe("the state of a session", () => {
  test.each<[number, boolean, SessionState]>([
    [0, true, "connected"],
    [2_999, true, "connected"],
    [3_000, true, "suspended"],
    [0, false, "suspended"],
    [5_999, false, "suspended"],
    [6_000, true, "lost"],
    [6_000, false, "lost"],
  ])("after %i ms of 9,000 without an answer, link up %s, is %s", (silenceMs, linkUp, state) => {
    expect(stateOf({ timeoutMs: 9_000, silenceMs, linkUp })).toBe(state);
  });

  test("goes to suspended and back on the same session when a connection breaks", async () => {
    const proxy = await zk.proxy();
    const states: [SessionState, string][] = [];
    const session = await zk.session({
      connect: proxy.address + (await zk.freshChroot()),
      hooks: { onState: (state, why) => states.push([state, why]) },
    });
    await session.multi([create("/mine", true)]);
    const heard: SessionState[] = [];
    session.onState((state) => heard.push(state));
    proxy.cut();
    await untilState(session, "suspended");
    expect(await session.untilConnected()).toBe(true);
    expect(heard).toEqual(["suspended", "connected"]);
    expect(states.map(([state]) => state)).toEqual(["connected", "suspended", "connected"]);
    const mine = await session.exists("/mine");
    expect(mine.ok && mine.value?.ephemeralOwner).toBe(session.id);
  });

  test("is lost in a silent partition before the server gives the session's nodes to anybody", async () => {
    const proxy = await zk.proxy();
    const chroot = await zk.freshChroot();
    const session = await zk.session({ connect: proxy.address + chroot });
    const other = await zk.session({ connect: zk.server.connect + chroot });
    await session.multi([create("/lock", true)]);
    const order: string[] = [];
    const gone = new Promise<void>((resolve) => {
      void other.exists("/lock", () => {
        order.push("server dropped the lock");
        resolve();
      });
    });
    session.lost.addEventListener("abort", () => order.push("session lost"));
    await other.barrier();
    proxy.blackhole(true);
    await gone;
    expect(order).toEqual(["session lost", "server dropped the lock"]);
  });

  test("is lost at once in a process that wakes up too late, and nothing more is sent", async () => {
    const clock = leapingClock();
    const proxy = await zk.proxy();
    const session = await zk.session({ connect: proxy.address + (await zk.freshChroot()), clock });
    const sent = (): number => proxy.requests.filter((frame) => opcodeOf(frame) === OPCODE.multi).length;
    const before = sent();
    clock.leap(session.timeoutMs * 0.7);
    expect(await session.multi([create("/zombie")])).toMatchObject({ code: "SESSION_LOST", index: -1 });
    expect([session.state, session.lost.aborted, sent()]).toEqual(["lost", true, before]);
  });

  test("is lost, and a late answer is no answer, in a process that wakes up with answers waiting for it", async () => {
    const clock = leapingClock();
    const proxy = await zk.proxy();
    const chroot = await zk.freshChroot();
    const session = await zk.session({ connect: proxy.address + chroot, clock });
    let fired = 0;
    await session.exists("/a", () => (fired += 1));
    proxy.onReply = (frame) => {
      // The process is stopped just when the first answer or event arrives.
      if (xidOf(frame) >= 0 || xidOf(frame) === XID.notification) clock.leap(session.timeoutMs * 0.7);
      return "pass";
    };
    expect(await session.multi([create("/a")])).toMatchObject({ code: "SESSION_LOST", index: -1 });
    expect([fired, session.state]).toEqual([0, "lost"]);
  });

  test("is lost when its server is stopped, and a new session comes when that goes on", async () => {
    const session = await zk.session();
    await zk.server.kill("SIGSTOP");
    await untilState(session, "lost");
    await zk.server.kill("SIGCONT");
    const next = await zk.session();
    expect(await next.exists("/")).toMatchObject({ ok: true });
  });

  test("follows the timeout that the server of a new connection grants", async () => {
    const proxy = await zk.proxy();
    const session = await zk.session({ connect: proxy.address + (await zk.freshChroot()) });
    const asked = session.timeoutMs;
    proxy.onReply = (frame) => {
      proxy.onReply = pass;
      const changed = Buffer.from(frame);
      changed.writeInt32BE(asked * 2, 8);
      return { instead: changed };
    };
    proxy.cut();
    await untilState(session, "suspended");
    expect(await session.untilConnected()).toBe(true);
    expect(session.timeoutMs).toBe(asked * 2);
  });

  test("is lost when the server says that it has expired", async () => {
    const clock = leapingClock();
    const proxy = await zk.proxy();
    const chroot = await zk.freshChroot();
    const why: string[] = [];
    const session = await zk.session({
      connect: proxy.address + chroot,
      clock,
      hooks: { onState: (_state, reason) => why.push(reason) },
    });
    const other = await zk.session({ connect: zk.server.connect + chroot });
    await session.multi([create("/lock", true)]);
    const expired = new Promise<void>((resolve) => void other.exists("/lock", resolve));
    // With its clock stopped the session cannot know by itself how long it has been away.
    clock.stop();
    proxy.accept(false);
    proxy.cut();
    await expired;
    const told = once(session.lost, "abort");
    proxy.accept(true);
    await told;
    expect(why.at(-1)).toBe("session expired");
  });

  test("is lost when its credentials are refused", async () => {
    const session = await zk.session({
      access: { ...OPEN_ACCESS, credentials: () => [{ scheme: "no-such-scheme", secret: "x" }] },
    });
    await untilState(session, "lost");
    expect(String(session.lost.reason)).toContain("authentication refused");
  });
});

describe("a call", () => {
  test("whose answer is missing at its deadline is unknown, and the connection is replaced", async () => {
    const proxy = await zk.proxy();
    const session = await zk.session({ connect: proxy.address + (await zk.freshChroot()) });
    proxy.onReply = (frame) => {
      if (xidOf(frame) < 0) return "pass";
      proxy.onReply = pass;
      return "swallow";
    };
    expect(await session.multi([create("/a")])).toMatchObject({ code: "UNKNOWN", index: -1 });
    expect(await session.untilConnected()).toBe(true);
    expect(proxy.connections).toBe(2);
    expect(await session.exists("/a")).toMatchObject({ ok: true, value: { version: 0 } });
  });

  test("is told to the hook with its name and outcome", async () => {
    const seen: [string, string][] = [];
    const session = await zk.session({
      hooks: { onOperation: (operation, durationMs, code) => durationMs >= 0 && seen.push([operation, code]) },
    });
    await session.exists("/");
    await session.get("/none");
    await session.multi([create("/a")]);
    await session.multi([create("/a")]);
    await session.readMany([{ get: "/a" }]);
    await session.barrier();
    await session.close();
    expect(seen).toEqual([
      ["exists", "OK"],
      ["get", "NO_NODE"],
      ["multi", "OK"],
      ["multi", "NODE_EXISTS"],
      ["readMany", "OK"],
      ["barrier", "OK"],
      ["close", "OK"],
    ]);
  });

  test("while it is being closed has no connection to wait for: whoever asks again until there is one would never end", async () => {
    const session = await zk.session();
    const closing = session.close();
    expect(await session.get("/")).toMatchObject({ ok: false, code: "SESSION_LOST" });
    expect(await session.untilConnected()).toBe(false);
    await closing;
  });

  test("after close is answered SESSION_LOST, and the session's nodes are gone by then", async () => {
    const chroot = await zk.freshChroot();
    const session = await zk.session({ connect: zk.server.connect + chroot });
    await session.multi([create("/mine", true)]);
    await session.close();
    const other = await zk.session({ connect: zk.server.connect + chroot });
    await other.barrier();
    expect(await other.exists("/mine")).toEqual({ ok: true, value: null });
    expect(await session.exists("/")).toMatchObject({ code: "SESSION_LOST" });
    expect(await session.barrier()).toBe(false);
  });
});

describe("a watch", () => {
  test("fires once at the change that it waits for: data, creation, deletion, children", async () => {
    const chroot = await zk.freshChroot();
    const session = await zk.session({ connect: zk.server.connect + chroot });
    const other = await zk.session({ connect: zk.server.connect + chroot });
    await other.multi([create("/a")]);
    const fired: string[] = [];
    await session.get("/a", () => fired.push("data"));
    await session.exists("/b", () => fired.push("created"));
    await session.children("/", () => fired.push("children"));
    await other.multi([{ op: "set", path: "/a", data: text("1"), version: 0 }]);
    await other.multi([create("/b")]);
    await session.barrier();
    expect(fired).toEqual(["data", "created", "children"]);
    await session.exists("/b", () => fired.push("deleted"));
    await other.multi([
      { op: "set", path: "/a", data: text("2"), version: 1 },
      { op: "delete", path: "/b", version: 0 },
    ]);
    await session.barrier();
    expect(fired.slice(3)).toEqual(["deleted"]);
  });

  test("that missed its change while disconnected fires after the reconnect", async () => {
    const proxy = await zk.proxy();
    const chroot = await zk.freshChroot();
    const session = await zk.session({ connect: proxy.address + chroot });
    const other = await zk.session({ connect: zk.server.connect + chroot });
    await other.multi([create("/a"), create("/a/x"), create("/c")]);
    const fired: string[] = [];
    await session.get("/a", () => fired.push("data"));
    await session.exists("/b", () => fired.push("created"));
    await session.children("/a", () => fired.push("children"));
    await session.exists("/c", () => fired.push("untouched"));
    proxy.accept(false);
    proxy.cut();
    await untilState(session, "suspended");
    await other.multi([
      { op: "set", path: "/a", data: text("1"), version: 0 },
      { op: "delete", path: "/a/x", version: 0 },
      create("/b"),
    ]);
    proxy.accept(true);
    await session.untilConnected();
    await session.barrier();
    expect(fired.sort()).toEqual(["children", "created", "data"]);
  });
});

describe("a barrier", () => {
  test("serves all who ask at once, but nobody who asks while it is under way", async () => {
    const proxy = await zk.proxy();
    const session = await zk.session({ connect: proxy.address + (await zk.freshChroot()) });
    const multis = (): number => proxy.requests.filter((frame) => opcodeOf(frame) === OPCODE.multi).length;
    const before = multis();
    const first = session.barrier();
    const later = [session.barrier(), session.barrier(), session.barrier()];
    expect(await first).toBe(true);
    expect(await Promise.all(later)).toEqual([true, true, true]);
    expect(multis() - before).toBe(2);
  });
});

describe("the server's clock", () => {
  test("is learned from our own writes, whatever our clock says", async () => {
    const anHour = 3_600_000;
    const clock: Clock = { nowMs: () => Date.now() - anHour, monotonicMs: () => performance.now() };
    const session = await zk.session({ clock });
    expect(session.serverNowMs()).toBeLessThan(Date.now() - anHour / 2);
    await session.multi([create("/a")]);
    await session.multi([{ op: "set", path: "/a", data: text("x"), version: 0 }]);
    expect(session.serverNowMs()).toBeGreaterThan(Date.now() - anHour / 2);
  });
});
