/** The parts as containers, on a real engine where there is one (SLUICE_ZOOKEEPER_IMAGE, SLUICE_MARIADB_IMAGE name other images). */
import { describe, expect, test } from "@jest/globals";
import { mkdtemp, readdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findDockerEngine, isPortFree, skipUnless } from "../src/index.ts";
import { startInDocker } from "../src/mariadb/docker.ts";
import { fromDocker } from "../src/zookeeper/docker.ts";
import { fourLetterWord } from "../src/zookeeper/four-letter-word.ts";

const engine = await findDockerEngine();

skipUnless(describe, engine, { optional: true })("in a container", () => {
  test("a ZooKeeper serves on loopback, dies by a signal, and leaves nothing", async () => {
    const dataDir = await mkdtemp(join(tmpdir(), "sluice-docker-zookeeper-"));
    const attempt = await fromDocker.attempt(
      {
        dataDir,
        ephemeralData: true,
        heapMb: 128,
        tickTimeMs: 200,
        port: null,
        tls: null,
        quorum: null,
        log: () => undefined,
        env: process.env,
      },
      new AbortController().signal,
    );
    if (!attempt.ok) throw new Error(attempt.reason);
    const { server } = attempt;
    const port = Number(server.connect.split(":")[1]);
    expect(await fourLetterWord({ port, tls: null }, "srvr")).toContain("Mode: standalone");
    expect(await readdir(server.logDir!)).not.toEqual([]);
    await server.kill("SIGKILL");
    expect(await server.exited).toBe("exit code 137");
    await server.stop();
    expect(await isPortFree(port)).toBe(true);
    await expect(readdir(dataDir)).rejects.toThrow("ENOENT");
  });

  test("a MariaDB comes up, comes back after a kill, and leaves nothing", async () => {
    const database = await startInDocker();
    if ("skip" in database) throw new Error(database.skip);
    expect(database.url).toMatch(new RegExp(`^mysql://sluice:[0-9a-f]{24}@127.0.0.1:${database.port}/inventory$`));
    await database.kill("SIGKILL");
    expect(await isPortFree(database.port)).toBe(true);
    await database.restart();
    expect(await isPortFree(database.port)).toBe(false);
    await database.stop();
    expect(await isPortFree(database.port)).toBe(true);
  });
});
