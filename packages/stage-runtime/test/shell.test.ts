import { describe, expect, test } from "@jest/globals";
import { CATALOGUE, makeLog, silentLog } from "../src/index.ts";
import { Watched } from "../src/engine/watched.ts";
import { Waker } from "../src/engine/waker.ts";
import { type Facts, liveness, printChecks, readiness } from "../src/service/health.ts";
import { Lifecycle, type LifeState } from "../src/service/lifecycle.ts";

const HEALTHY: Facts = {
  trouble: null,
  life: "running",
  session: "connected",
  tree: null,
  flapping: false,
  sinceQueueSeenMs: 0,
  idlePollMs: 30_000,
  pollMs: 2_000,
  stuck: [],
  standIn: null,
};
const ready = (patch: Partial<Facts>): boolean => readiness({ ...HEALTHY, ...patch }).every(({ ok }) => ok);
const live = (patch: Partial<Facts>): boolean => liveness({ ...HEALTHY, ...patch }).every(({ ok }) => ok);

describe("health", () => {
  test("is ready only while it runs, connected and looking at its queue", () => {
    expect(ready({})).toBe(true);
    expect(ready({ sinceQueueSeenMs: null })).toBe(true);
    for (const patch of [
      { life: "draining" },
      { life: "starting" },
      { session: "suspended" },
      { session: null },
      { flapping: true },
      { sinceQueueSeenMs: 90_001 },
      { stuck: ["jobs Pending"] },
    ] as const)
      expect(ready(patch)).toBe(false);
  });

  test("is ready without ZooKeeper while something stands in for it, and never when that can take no more", () => {
    const journal = (ok: boolean) => ({ name: "journal", ok, detail: "3 records" });
    const away = { session: null, flapping: true, sinceQueueSeenMs: Infinity } as const;
    expect(ready({ ...away, standIn: journal(true) })).toBe(true);
    expect(ready({ ...away, life: "starting", standIn: journal(true) })).toBe(true);
    expect(ready({ ...away, standIn: journal(false) })).toBe(false);
    expect(ready({ standIn: journal(false) })).toBe(false);
    expect(ready({ life: "draining", standIn: journal(true) })).toBe(false);
    expect(ready({ stuck: ["jobs Pending"], standIn: journal(true) })).toBe(false);
    expect(printChecks("readyz", readiness({ ...HEALTHY, ...away, standIn: journal(true) }), true)).toContain(
      "[+]zookeeper ok: no session\n",
    );
  });

  test("is alive without ZooKeeper, and dead when a loop is stuck", () => {
    expect(live({ session: null, sinceQueueSeenMs: Infinity, life: "draining" })).toBe(true);
    expect(live({ stuck: ["jobs Pending"] })).toBe(false);
  });

  test("says which check failed", () => {
    expect(printChecks("readyz", readiness({ ...HEALTHY, session: null }), false)).toContain(
      "[-]zookeeper failed: no session\n",
    );
    const why = "TLS: the server's certificate has expired";
    expect(printChecks("readyz", readiness({ ...HEALTHY, session: null, trouble: why }), false)).toContain(
      `[-]zookeeper failed: no session, connecting: ${why}\n`,
    );
    expect(printChecks("livez", liveness(HEALTHY), false)).toBe("ok\n");
    expect(printChecks("livez", liveness(HEALTHY), true)).toBe("[+]engine ok: turns\nlivez check passed\n");
  });
});

describe("the life of a service", () => {
  test("goes only forward, and tells each step", () => {
    const seen: LifeState[] = [];
    const life = new Lifecycle(silentLog(), (state) => seen.push(state));
    expect(
      ["stopped", "running", "starting", "draining", "running", "stopped", "failed"].map((to) =>
        life.become(to as LifeState),
      ),
    ).toEqual([false, true, false, true, false, true, false]);
    expect(seen).toEqual(["running", "draining", "stopped"]);
  });
});

describe("a log", () => {
  test("is one JSON object a line, with the service, and without secrets", () => {
    const lines: string[] = [];
    const log = makeLog("recorder", "info", { write: (line: string) => void lines.push(line) });
    log.child({ job_id: "jid0000000001" }).warn({ request: { authorization: "Bearer x", url: "u" } }, "hello");
    expect(lines.map((line) => JSON.parse(line) as unknown)).toMatchObject([
      {
        level: "warn",
        service: "recorder",
        job_id: "jid0000000001",
        msg: "hello",
        request: { authorization: "[Redacted]", url: "u" },
      },
    ]);
  });
});

describe("the catalogue of metrics", () => {
  const rows = Object.values(CATALOGUE);

  test("names them as Prometheus asks for", () => {
    for (const { name, type } of rows) {
      expect(name).toMatch(/^sluice_[a-z_]+$/);
      expect(name.endsWith("_total")).toBe(type === "counter");
    }
    expect(new Set(rows.map(({ name }) => name)).size).toBe(rows.length);
  });

  test("has no ids in labels", () => {
    for (const { labels } of rows) expect(labels.filter((label) => /id$|job$|batch$|worker/.test(label))).toEqual([]);
  });
});

describe("a watched value", () => {
  const clock = { nowMs: () => 0, monotonicMs: () => nowMs };
  let nowMs = 0;

  test("is read once, and again when its watch fires or it is old", async () => {
    let reads = 0;
    let fire: (() => void) | undefined;
    let changes = 0;
    const watched = new Watched({
      clock,
      maxAgeMs: 100,
      onChange: () => (changes += 1),
      read: (watch) => {
        fire = watch ?? fire;
        return Promise.resolve(++reads);
      },
    });
    expect(await Promise.all([watched.fresh(), watched.fresh()])).toEqual([1, 1]);
    expect(await watched.fresh()).toBe(1);
    fire?.();
    expect([await watched.fresh(), changes]).toEqual([2, 1]);
    nowMs += 101;
    expect(await watched.fresh()).toBe(3);
    watched.invalidate();
    expect(await watched.fresh()).toBe(4);
  });

  test("that changes while it is read is read again", async () => {
    let reads = 0;
    const watched = new Watched({
      clock,
      maxAgeMs: 100,
      onChange: () => undefined,
      read: (watch) => {
        if (++reads === 1) watch?.();
        return Promise.resolve(reads);
      },
    });
    await watched.fresh();
    expect(await watched.fresh()).toBe(2);
  });

  test("that could not be read is asked for again, with a watch", async () => {
    const armed: boolean[] = [];
    const watched = new Watched<number>({
      clock,
      maxAgeMs: 100,
      onChange: () => undefined,
      read: (watch) => {
        armed.push(watch !== undefined);
        return Promise.resolve(armed.length === 1 ? null : 7);
      },
    });
    expect([await watched.fresh(), await watched.fresh(), armed]).toEqual([null, 7, [true, true]]);
  });
});

describe("a waker", () => {
  const never = new AbortController().signal;

  test("wakes who waits, and who comes to wait too late", async () => {
    const waker = new Waker();
    waker.wake();
    await waker.wait(600_000, never);
    const waiting = waker.wait(600_000, never);
    waker.wake();
    await waiting;
  });

  test("wakes at the bell, and does not sleep after it", async () => {
    const waker = new Waker();
    const bell = new AbortController();
    const waiting = waker.wait(600_000, bell.signal);
    bell.abort();
    await waiting;
    await waker.wait(600_000, bell.signal);
  });
});
