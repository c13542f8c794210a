/** MariaDB as a container, through testcontainers. On Linux it shares the host's network, so that it listens on loopback alone. */
import { runtimeClient, type Testcontainers } from "../docker/runtime.ts";
import { freePort } from "../free-port.ts";
import { messageOf } from "../log.ts";
import { type Account, newAccount } from "./account.ts";
import { untilGreeted } from "./greeting.ts";
import type { RunningMariaDb } from "./types.ts";

const DEFAULT_IMAGE = "mariadb:11.4";
const INIT_FILE = "/sluice-init.sql";

export async function startInDocker(
  environment: NodeJS.ProcessEnv = process.env,
): Promise<RunningMariaDb | { readonly skip: string }> {
  const docker = await runtimeClient();
  if ("skip" in docker) return docker;
  const account = newAccount();
  const port = await freePort();
  const image = environment["SLUICE_MARIADB_IMAGE"] ?? DEFAULT_IMAGE;
  const started = await makeContainer(docker.testcontainers, image, port, account)
    .start()
    .catch((error: unknown) => messageOf(error));
  if (typeof started === "string") return { skip: `${image} does not start: ${started}` };
  const handle = docker.client.container.getById(started.getId());
  const stop = async (): Promise<void> => {
    await started.stop({ remove: true, removeVolumes: true });
  };
  const problem = await untilGreeted(port);
  if (problem !== null) {
    await stop();
    return { skip: problem.message };
  }
  return {
    url: account.urlAt(port),
    port,
    source: "docker",
    kill: async (signal) => {
      const ended = handle.wait();
      await handle.kill({ signal });
      if (signal === "SIGKILL" || signal === "SIGTERM") await ended;
    },
    restart: async () => {
      await handle.start();
      const late = await untilGreeted(port);
      if (late !== null) throw late;
    },
    stop,
  };
}

function makeContainer({ GenericContainer, Wait }: Testcontainers, image: string, port: number, account: Account) {
  const onHost = process.platform === "linux";
  const container = new GenericContainer(image)
    .withEnvironment({
      MARIADB_DATABASE: "inventory",
      MARIADB_USER: "sluice",
      MARIADB_PASSWORD: account.password,
      MARIADB_RANDOM_ROOT_PASSWORD: "yes",
    })
    .withCopyContentToContainer([{ content: account.sql, target: INIT_FILE }])
    .withCommand([
      `--port=${port}`,
      `--bind-address=${onHost ? "127.0.0.1" : "0.0.0.0"}`,
      "--skip-name-resolve",
      `--init-file=${INIT_FILE}`,
      "--innodb-buffer-pool-size=16M",
    ])
    // Readiness is asked of the server itself.
    .withWaitStrategy(Wait.forLogMessage(/^/));
  return onHost ? container.withNetworkMode("host") : container.withExposedPorts({ container: port, host: port });
}
