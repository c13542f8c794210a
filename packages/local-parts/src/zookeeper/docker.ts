/**
 * A container, through testcontainers.
 *
 * On Linux it shares the host's network: only so can the server listen on loopback alone, and it needs no bridge.
 * Elsewhere containers live in a virtual machine, and the port is published. testcontainers' reaper removes the
 * container when this process dies; one that was left all the same is removed at the next start on the same data.
 */
import { mkdir, rm, writeFile } from "node:fs/promises";
import type { StartedTestContainer } from "testcontainers";
import { runtimeClient, type Testcontainers } from "../docker/runtime.ts";
import { messageOf } from "../log.ts";
import { configurationText, jvmFlags, layoutOf } from "./configuration.ts";
import { untilServing } from "./four-letter-word.ts";
import { choosePort } from "./port.ts";
import { failed, type Attempt, type Request, type RunningZooKeeper, type Way } from "./types.ts";

const DEFAULT_IMAGE = "zookeeper:3.9";
/** What we need of dockerode's container: testcontainers can neither send a signal nor wait for the end. */
interface Handle {
  wait(): Promise<{ StatusCode: number }>;
  kill(options: { signal: string }): Promise<unknown>;
}

const DATA_LABEL = "sluice.zookeeper.data";

export const fromDocker: Way = { name: "Docker", attempt };

async function attempt(request: Request, signal: AbortSignal): Promise<Attempt> {
  if (request.tls !== null) return failed("a container is not given certificates here");
  const docker = await runtimeClient();
  if ("skip" in docker) return failed(docker.skip);
  const { testcontainers, client } = docker;

  const left = await client.container.fetchByLabel(DATA_LABEL, request.dataDir);
  if (left !== undefined) await left.remove({ force: true });
  const port = await choosePort(request);
  const container = await makeContainer(testcontainers, request, port);
  const started = await container.start();
  if (await untilServing({ port, tls: request.tls }, signal)) {
    return { ok: true, server: running(started, client.container.getById(started.getId()), port, request) };
  }
  await started.stop({ remove: true });
  return failed("the container's server did not answer in time");
}

async function makeContainer({ GenericContainer, Wait }: Testcontainers, request: Request, port: number) {
  const { data, configFile } = layoutOf(request.dataDir);
  const onHost = process.platform === "linux";
  const listen = onHost ? "127.0.0.1" : "0.0.0.0";
  await mkdir(data, { recursive: true });
  await writeFile(configFile, configurationText(request, { data: "/data", port, listen }));
  const container = new GenericContainer(request.env["SLUICE_ZOOKEEPER_IMAGE"] ?? DEFAULT_IMAGE)
    .withLabels({ [DATA_LABEL]: request.dataDir })
    .withEnvironment({ JVMFLAGS: jvmFlags(request).join(" ") })
    .withBindMounts([
      { source: data, target: "/data", mode: "rw" },
      { source: configFile, target: "/conf/zoo.cfg", mode: "rw" },
    ])
    // Readiness is asked of the server itself: the wording of log lines is nobody's promise.
    .withWaitStrategy(Wait.forLogMessage(/^/));
  // As us, so that we may remove the files again.
  if (process.getuid !== undefined && process.getgid !== undefined) {
    container.withUser(`${process.getuid()}:${process.getgid()}`);
  }
  return onHost ? container.withNetworkMode("host") : container.withExposedPorts({ container: port, host: port });
}

function running(started: StartedTestContainer, handle: Handle, port: number, request: Request): RunningZooKeeper {
  const exited = handle.wait().then((end) => `exit code ${end.StatusCode}`, messageOf);
  return {
    connect: `127.0.0.1:${port}`,
    source: "docker",
    dataDir: request.dataDir,
    logDir: layoutOf(request.dataDir).transactionLog,
    exited,
    kill: async (signal) => {
      await handle.kill({ signal });
      if (signal === "SIGKILL" || signal === "SIGTERM") await exited;
    },
    stop: async () => {
      await started.stop({ remove: true });
      if (request.ephemeralData) await rm(request.dataDir, { recursive: true, force: true });
    },
  };
}
