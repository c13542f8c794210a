import { afterEach, describe, expect, test } from "@jest/globals";
import { startZooKeeper, type RunningZooKeeper, type ZooKeeperOptions } from "@sluice/local-parts";
import { mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { networkInterfaces, tmpdir } from "node:os";
import { connect } from "node:net";
import { join } from "node:path";
import { fourLetterWord } from "../src/zookeeper/four-letter-word.ts";

const started: RunningZooKeeper[] = [];
const folders: string[] = [];

async function start(options: ZooKeeperOptions): Promise<RunningZooKeeper> {
  const server = await startZooKeeper({ heapMb: 128, ...options, env: environment(options.env) });
  started.push(server);
  return server;
}

/** The machine's own settings must not decide these tests. */
const environment = (extra: NodeJS.ProcessEnv = {}): NodeJS.ProcessEnv => ({
  PATH: process.env["PATH"],
  JAVA_HOME: process.env["JAVA_HOME"],
  ...extra,
});

async function folder(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), "sluice-local-parts-"));
  folders.push(path);
  return path;
}

const portOf = (server: RunningZooKeeper): number => Number(server.connect.split(":")[1]);
const serves = async (server: RunningZooKeeper): Promise<boolean> =>
  (await fourLetterWord({ port: portOf(server), tls: null }, "srvr"))?.includes("Mode: standalone") === true;

afterEach(async () => {
  await Promise.all(started.splice(0).map((server) => server.stop()));
  await Promise.all(folders.splice(0).map((path) => rm(path, { recursive: true, force: true })));
});

describe("the finder of ZooKeeper", () => {
  test("takes the server that ZOOKEEPER_CONNECT names, and leaves it alone", async () => {
    const theirs = await start({ ephemeralData: true });

    const named = await start({ ephemeralData: true, env: { ZOOKEEPER_CONNECT: `${theirs.connect}/chroot` } });

    expect(named).toMatchObject({ connect: `${theirs.connect}/chroot`, source: "environment" });
    await named.kill("SIGKILL");
    await named.stop();
    expect(await serves(theirs)).toBe(true);
  });

  test("starts an installed one that serves, and ends it with its temporary data", async () => {
    const server = await start({ ephemeralData: true });
    expect(server).toMatchObject({ source: "installed", connect: expect.stringMatching(/^127\.0\.0\.1:\d+$/) });
    expect(await serves(server)).toBe(true);

    await server.stop();

    expect(await serves(server)).toBe(false);
    await expect(readdir(server.dataDir!)).rejects.toThrow("ENOENT");
  });

  test.each([
    ["that holds nothing", () => Promise.resolve(), "no zookeeper*.jar"],
    [
      "whose jar is broken",
      (home: string) => writeFile(join(home, "lib", "zookeeper-3.9.9.jar"), "not a jar"),
      "the server ended with exit code 1",
    ],
  ])("passes over a ZOOKEEPER_HOME %s, says why, and takes Debian's", async (_what, prepare, reason) => {
    const home = await folder();
    await mkdir(join(home, "lib"));
    await prepare(home);
    const lines: string[] = [];

    const server = await start({ ephemeralData: true, env: { ZOOKEEPER_HOME: home }, log: (line) => lines.push(line) });

    expect(await serves(server)).toBe(true);
    expect(lines).toEqual([
      expect.stringContaining(`no ZooKeeper by ZOOKEEPER_HOME: ${reason}`),
      `ZooKeeper at ${server.connect} (Debian's installed package)`,
    ]);
  });

  test("keeps data and port over a restart", async () => {
    const dataDir = await folder();
    const first = await start({ dataDir });
    await first.stop();
    const before = await readdir(first.logDir!);

    const second = await start({ dataDir });

    expect(second.connect).toBe(first.connect);
    expect(await serves(second)).toBe(true);
    expect(await readdir(second.logDir!)).toEqual(expect.arrayContaining(before));
  });

  test("refuses a data directory on which a server runs, and starts no other one on it", async () => {
    const dataDir = await folder();
    const first = await start({ dataDir, ephemeralData: true });

    const second = start({ dataDir, ephemeralData: true });

    await expect(second).rejects.toThrow(`${dataDir} is in use by the ZooKeeper with pid ${first.pid}`);
    expect(await serves(first)).toBe(true);
  });

  test("tells when the server was killed", async () => {
    const server = await start({ ephemeralData: true });

    await server.kill("SIGKILL");

    expect(await server.exited).toBe("signal SIGKILL");
    expect(await serves(server)).toBe(false);
  });

  test("stops a server that was frozen", async () => {
    const server = await start({ ephemeralData: true });

    await server.kill("SIGSTOP");
    await server.stop();

    expect(await server.exited).toMatch(/^(exit code|signal)/);
  });

  test("lets nobody in from outside", async () => {
    const server = await start({ ephemeralData: true });
    const outside = Object.values(networkInterfaces())
      .flatMap((addresses) => addresses ?? [])
      .filter((address) => !address.internal && address.family === "IPv4");

    for (const { address } of outside) await expect(knock(address, portOf(server))).rejects.toThrow("ECONNREFUSED");
    await expect(knock("127.0.0.1", portOf(server))).resolves.toBeUndefined();
  });
});

const knock = (host: string, port: number): Promise<void> =>
  new Promise((resolve, reject) => {
    const socket = connect({ host, port }, () => {
      socket.destroy();
      resolve();
    });
    socket.once("error", reject);
  });
