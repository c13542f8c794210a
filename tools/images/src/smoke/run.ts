/** From an engine to a fleet and back to nothing. */
import { randomBytes } from "node:crypto";
import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isPublicBaseThere } from "../build/bases.ts";
import { buildAll, versionOf } from "../build/build-all.ts";
import { allServices } from "../build/catalogue.ts";
import { findCompose } from "../compose/command.ts";
import { provideSecrets } from "../compose/secrets.ts";
import type { Docker } from "../docker.ts";
import { startCollector } from "./collector.ts";
import { prepareFleet } from "./compose-fleet.ts";
import { at, choosePorts, prometheusConfig, settingsOf } from "./layout.ts";
import { PARTS, runScenario } from "./scenario.ts";

export interface SmokeOptions {
  readonly root: string;
  readonly docker: Docker;
  /** False: the images are there already. */
  readonly build: boolean;
  readonly say: (line: string) => void;
}

/** Where the public images cannot be had. */
const LOCAL_IMAGES = {
  ZOOKEEPER_IMAGE: "sluice-local/zookeeper",
  MARIADB_IMAGE: "sluice-local/mariadb",
  PROMETHEUS_IMAGE: "sluice-local/prometheus",
};

export async function runSmoke({ root, docker, build, say }: SmokeOptions): Promise<void> {
  const compose = await findCompose(say);
  if ("skip" in compose) throw new Error(compose.skip);
  const local = !(await isPublicBaseThere(docker, root));
  if (build) await buildAll(docker, { root, bases: local ? "local" : "public", only: [], say });

  const folder = await mkdtemp(join(tmpdir(), "sluice-smoke-"));
  // Prometheus reads its configuration as somebody else.
  await chmod(folder, 0o755);
  const services = await allServices(root);
  const ports = await choosePorts(services);
  const tokens = await provideSecrets({
    folder: join(folder, "secrets"),
    database: { host: "127.0.0.1", port: at(ports, "MARIADB_PORT") },
  });
  const config = join(folder, "prometheus.yml");
  await writeFile(config, prometheusConfig(ports, services), { mode: 0o644 });
  const collector = await startCollector();
  const settings = {
    ...settingsOf(ports),
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    ...(local ? LOCAL_IMAGES : {}),
    SLUICE_SECRETS: join(folder, "secrets"),
    PROMETHEUS_CONFIG: config,
  };
  const project = `sluice-smoke-${randomBytes(4).toString("hex")}`;
  const fleet = await prepareFleet({ root, folder, project, compose, docker, settings });
  try {
    const begun = performance.now();
    const containers = [...PARTS, ...services];
    await fleet.run("up", "-d", ...containers);
    await fleet.untilHealthy(containers);
    say(`ok  ${containers.length} containers are healthy after ${seconds(begun)}`);
    const prefix = process.env["SLUICE_IMAGES"] ?? "sluice";
    const cliImage = `${prefix}/cli:${process.env["SLUICE_TAG"] ?? (await versionOf(root))}`;
    await runScenario({ docker, fleet, services, collector, ports, tokens, cliImage, say });
    say(`ok  the smoke test took ${seconds(begun)}`);
  } finally {
    // What went wrong before is the news, not that it could not be cleared away.
    await fleet.run("down", "--volumes", "--timeout", "5").catch((error: unknown) => say(String(error)));
    await collector.close();
    await rm(folder, { recursive: true, force: true });
  }
}

const seconds = (begun: number): string => `${((performance.now() - begun) / 1000).toFixed(0)} s`;
