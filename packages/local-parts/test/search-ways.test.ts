import { describe, expect, test } from "@jest/globals";
import { searchWays } from "../src/zookeeper/start.ts";
import { fromDocker } from "../src/zookeeper/docker.ts";
import { fromEnvironment } from "../src/zookeeper/environment.ts";
import { fromHome } from "../src/zookeeper/installed.ts";
import { failed, type Request, type RunningZooKeeper, type Way } from "../src/zookeeper/types.ts";

const LIMIT_MS = 50;

const request = (env: NodeJS.ProcessEnv = {}, log: (line: string) => void = () => undefined): Request => ({
  dataDir: "/nonexistent",
  ephemeralData: true,
  heapMb: 128,
  tickTimeMs: 200,
  port: null,
  tls: null,
  quorum: null,
  log,
  env,
});

const serverCalled = (name: string, onStop: () => void = () => undefined): RunningZooKeeper => ({
  connect: `${name}:2181`,
  source: "installed",
  exited: new Promise(() => undefined),
  kill: () => Promise.resolve(),
  stop: () => {
    onStop();
    return Promise.resolve();
  },
});

const works = (name: string): Way => ({
  name,
  attempt: () => Promise.resolve({ ok: true, server: serverCalled(name) }),
});
const breaks = (name: string, why: string): Way => ({ name, attempt: () => Promise.resolve(failed(why)) });

describe("the search for a ZooKeeper", () => {
  test("takes the first way that works", async () => {
    const found = await searchWays([breaks("a", "no"), works("b"), works("c")], request(), LIMIT_MS);

    expect(found.connect).toBe("b:2181");
  });

  test("names every way and what would help when none works", async () => {
    const lines: string[] = [];
    const search = searchWays(
      [fromEnvironment, fromHome, breaks("c", "broken")],
      request({}, (l) => lines.push(l)),
      50,
    );

    await expect(search).rejects.toThrow(
      /No ZooKeeper\. Tried:\n {2}- ZOOKEEPER_CONNECT: not set\n {2}- ZOOKEEPER_HOME: not set\n {2}- c: broken\n.*ZOOKEEPER_CONNECT=.*ZOOKEEPER_HOME.*Docker.*apt-get install zookeeper/s,
    );
    expect(lines).toEqual(["no ZooKeeper by c: broken"]);
  });

  test("goes on when a way throws", async () => {
    const throwing: Way = { name: "a", attempt: () => Promise.reject(new Error("bang")) };

    expect((await searchWays([throwing, works("b")], request(), LIMIT_MS)).connect).toBe("b:2181");
  });

  test("tells a slow way to give up, waits for it to clean up, and goes on", async () => {
    const events: string[] = [];
    const slow: Way = {
      name: "slow",
      attempt: (_request, signal) =>
        new Promise((resolve) => {
          signal.addEventListener("abort", () => {
            events.push("cleaned up");
            resolve(failed("too slow"));
          });
        }),
    };
    const next: Way = {
      name: "next",
      attempt: (...args) => {
        events.push("next");
        return works("next").attempt(...args);
      },
    };

    await searchWays([slow, next], request(), LIMIT_MS);

    expect(events).toEqual(["cleaned up", "next"]);
  });

  test("leaves a way behind that cannot give up, and ends its server when it comes late", async () => {
    let arrive: () => void = () => undefined;
    const stopped = new Promise<string>((resolveStopped) => {
      const late = serverCalled("late", () => resolveStopped("stopped"));
      const deaf: Way = {
        name: "deaf",
        attempt: () => new Promise((resolve) => (arrive = () => resolve({ ok: true, server: late }))),
      };
      void searchWays([deaf, works("next")], request(), LIMIT_MS).then(() => arrive());
    });

    expect(await stopped).toBe("stopped");
  });

  test("goes on to the next way when the named server does not answer, and says so", async () => {
    const lines: string[] = [];
    const asked = { ...request({ ZOOKEEPER_CONNECT: "127.0.0.1:1" }), log: (line: string) => void lines.push(line) };
    const server = await searchWays([fromEnvironment, works("b")], asked, LIMIT_MS);

    expect(server.connect).toBe("b:2181");
    expect(lines.join("\n")).toContain("127.0.0.1:1 does not answer; going on without it");
  });

  test("refuses a ZOOKEEPER_CONNECT that is no address", async () => {
    const search = searchWays([fromEnvironment, works("b")], request({ ZOOKEEPER_CONNECT: "localhost" }), LIMIT_MS);

    await expect(search).rejects.toThrow('"localhost" is not host:port');
  });

  test("gets past Docker where no daemon answers", async () => {
    const before = process.env["DOCKER_HOST"];
    process.env["DOCKER_HOST"] = "tcp://127.0.0.1:1";
    try {
      const attempt = await fromDocker.attempt(request(), new AbortController().signal);
      expect(attempt).toMatchObject({ ok: false, reason: expect.stringContaining("no daemon answers") });
    } finally {
      if (before === undefined) delete process.env["DOCKER_HOST"];
      else process.env["DOCKER_HOST"] = before;
    }
  });
});
