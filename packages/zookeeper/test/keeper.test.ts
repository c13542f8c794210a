import { describe, expect, test } from "@jest/globals";
import { freePort } from "@sluice/local-parts";
import { keepSession, type KeeperOptions, type Session } from "../src/index.ts";
import { backoffMs } from "../src/backoff.ts";
import { FlapGuard } from "../src/flap-guard.ts";
import { TIMEOUT_MS, untilState, useZooKeeper } from "./support/bundle.ts";

const zk = useZooKeeper();
const QUICK: Partial<KeeperOptions> = { timeoutMs: TIMEOUT_MS, backoff: { firstMs: 20, maxMs: 50 } };

async function withKeeper(
  options: Partial<KeeperOptions> & { connect: string },
  use: (keeper: ReturnType<typeof keepSession>) => Promise<void>,
) {
  const keeper = keepSession({ timeoutMs: TIMEOUT_MS, ...QUICK, ...options });
  try {
    await use(keeper);
  } finally {
    await keeper.close();
  }
}

describe("a keeper", () => {
  test("makes the chroot that its connect string names, and opens a session there", async () => {
    await withKeeper({ connect: `${zk.server.connect}/made/by/keeper` }, async (keeper) => {
      const session = await keeper.untilSession();
      expect(keeper.current()).toBe(session);
      expect(await session?.exists("/")).toMatchObject({ ok: true, value: { numChildren: 0 } });
      await keeper.close();
      expect([keeper.current(), session?.state, await keeper.untilSession()]).toEqual([null, "lost", null]);
    });
  });

  test("replaces a lost session by another one, and tells its listeners", async () => {
    const proxy = await zk.proxy();
    await withKeeper({ connect: proxy.address }, async (keeper) => {
      const sessions: Session[] = [];
      const first = await keeper.untilSession();
      keeper.onSession((session) => sessions.push(session));
      const states: string[] = [];
      first!.onState((state) => states.push(`${state}, current is ${keeper.current() === null ? "none" : "there"}`));
      proxy.accept(false);
      proxy.cut();
      await untilState(first!, "lost");
      expect(states).toEqual(["suspended, current is there", "lost, current is none"]);
      proxy.accept(true);
      const second = await keeper.untilSession();
      expect(second!.id).not.toBe(first!.id);
      expect(sessions).toEqual([first, second]);
      expect(await second!.exists("/")).toMatchObject({ ok: true });
    });
  });

  test("says at each attempt why there is no session", async () => {
    const port = await freePort();
    const troubles: string[] = [];
    let heardTwice = (): void => undefined;
    const twice = new Promise<void>((resolve) => (heardTwice = resolve));
    const options: Partial<KeeperOptions> = {
      connectWithinMs: 100,
      onTrouble: (why, retryInMs) => {
        troubles.push(why);
        expect(retryInMs).toBeGreaterThan(0);
        if (troubles.length === 2) heardTwice();
      },
    };
    await withKeeper({ connect: `127.0.0.1:${port}`, ...options }, async (keeper) => {
      await twice;
      expect(keeper.current()).toBeNull();
      expect(troubles[0]).toMatch(new RegExp(`^no ZooKeeper answers at 127.0.0.1:${port} \\(.*ECONNREFUSED`));
    });
  });

  test("goes on by itself after the server was away for longer than a session", async () => {
    const chroot = await zk.freshChroot();
    await withKeeper({ connect: zk.server.connect + chroot }, async (keeper) => {
      const before = await keeper.untilSession();
      await zk.server.kill("SIGKILL");
      await untilState(before!, "lost");
      await zk.server.restart();
      const after = await keeper.untilSession();
      expect(await after!.exists("/")).toMatchObject({ ok: true });
    });
  });

  test("calls itself flapping after the sixth disconnect, and then takes its time", async () => {
    const proxy = await zk.proxy();
    let told = (_retryInMs: number): void => undefined;
    const retry = new Promise<number>((resolve) => (told = resolve));
    await withKeeper({ connect: proxy.address, onTrouble: (_why, retryInMs) => told(retryInMs) }, async (keeper) => {
      const session = await keeper.untilSession();
      for (let i = 0; i < 6; i++) {
        expect(keeper.flapping).toBe(false);
        proxy.cut();
        await untilState(session!, "suspended");
        await session!.untilConnected();
      }
      expect(keeper.flapping).toBe(true);
      await session!.close();
      expect(await retry).toBeGreaterThanOrEqual(1000);
    });
  });

  test("tells its hooks of its own sessions only, not of the one that makes the chroot", async () => {
    const states: string[] = [];
    const hooks = { onState: (state: string) => states.push(state) };
    await withKeeper({ connect: `${zk.server.connect}/hooked`, hooks }, async (keeper) => {
      await keeper.untilSession();
    });
    expect(states).toEqual(["connected", "lost"]);
  });

  test("can be closed while it still looks for a server", async () => {
    const keeper = keepSession({ ...QUICK, connect: `127.0.0.1:${await freePort()}`, timeoutMs: 60_000 });
    await keeper.close();
    expect(keeper.current()).toBeNull();
  });

  test.each(["", "host:99999", "host:2181,", "host:2181/a//b", "ho st:1"])(
    "refuses the connect string %j at once",
    (connect) => {
      expect(() => keepSession({ connect, timeoutMs: TIMEOUT_MS })).toThrow("ZooKeeper connect string");
    },
  );
});

test("the flap guard forgets after five minutes", () => {
  const guard = new FlapGuard();
  for (let i = 0; i < 6; i++) guard.note(i * 1000);
  expect([guard.flapping(5_000), guard.flapping(299_999), guard.flapping(300_000)]).toEqual([true, true, false]);
});

test("backoff doubles up to its limit, is spread over most of its length, and never zero", () => {
  const usual = { firstMs: 200, maxMs: 10_000 };
  expect([0, 1, 2, 3, 50].map((failures) => backoffMs(usual, failures, 1))).toEqual([200, 400, 800, 1600, 10_000]);
  expect(backoffMs(usual, 50, 0)).toBe(1000);
  expect(backoffMs({ firstMs: 1, maxMs: 1 }, 0, 0)).toBe(1);
});
