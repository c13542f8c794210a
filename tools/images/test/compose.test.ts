/** docker-compose.yml is held to the code, without an engine. */
import { describe, expect, test } from "@jest/globals";
import { readFile } from "node:fs/promises";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { allImages, allServices } from "../src/build/catalogue.ts";
import { withoutPorts } from "../src/compose/host-network.ts";
import { type ComposeService, filled, parseCompose, parseEnvFile } from "../src/compose/model.ts";

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));
const read = (path: string) => readFile(`${ROOT}${path}`, "utf8");
const TEXT = await read("docker-compose.yml");
const COMPOSE = parseCompose(TEXT);
const SERVICES = Object.entries(COMPOSE.services);
const ENV = {
  small: parseEnvFile(await read("deploy/compose/small.env")),
  full: parseEnvFile(await read("deploy/compose/full.env")),
};
const OURS = (await allImages(ROOT)).map(({ name }) => name);
const FLEET = await allServices(ROOT);

interface Schema {
  readonly shape: Readonly<Record<string, unknown>>;
}
const isSchema = (value: unknown): value is Schema =>
  typeof value === "object" && value !== null && "shape" in value && typeof value.shape === "object";

async function settingsOf(service: string): Promise<readonly string[]> {
  const module = (await import(`${ROOT}services/${service}/src/config.ts`)) as Readonly<Record<string, unknown>>;
  return Object.keys(Object.values(module).find(isSchema)!.shape);
}

const named = (service: string): ComposeService => COMPOSE.services[service]!;

describe("docker-compose.yml", () => {
  test("has the whole fleet in both profiles, and all parts of a full one", () => {
    for (const service of FLEET) expect(named(service).profiles).toEqual(["small", "full"]);
    const inFull = SERVICES.filter(([, { profiles }]) => profiles.includes("full")).map(([name]) => name);
    expect(inFull).toEqual(
      expect.arrayContaining(["zoo1", "zoo2", "zoo3", "mariadb", "mail", "prometheus", "grafana"]),
    );
  });

  test.each(SERVICES)("%s: image by variable, health asked, ports on loopback only", (name, service) => {
    expect(service.image).toMatch(/^\$\{[A-Z_]+:-[^}]+\}/);
    // A whole version: the same file brings the same fleet.
    expect(filled(service.image)).toMatch(/:v?\d+\.\d+\.\d+(?:@sha256:[0-9a-f]{64})?$/);
    const oneShot = service.restart === "no";
    expect(service.healthcheck).toEqual(
      oneShot ? { disable: true } : expect.objectContaining({ test: expect.arrayContaining(["CMD"]) }),
    );
    for (const port of service.ports) expect(port).toMatch(/^127\.0\.0\.1:/);
    if (name === "zoo1" || name === "prepare" || name === "init") return;
    for (const profile of service.profiles) {
      for (const other of Object.keys(service.depends_on)) expect(named(other).profiles).toContain(profile);
    }
  });

  test.each(SERVICES.filter(([, { image }]) => filled(image).startsWith("sluice/")))(
    "%s: ours, so hardened",
    (_, service) => {
      expect(service).toMatchObject({
        read_only: true,
        cap_drop: ["ALL"],
        security_opt: ["no-new-privileges:true"],
        tmpfs: ["/tmp"],
      });
      expect(OURS).toContain(/^sluice\/([a-z-]+):/.exec(filled(service.image))?.[1]);
    },
  );

  test.each(FLEET)("%s starts behind its parts and has more time to end than its grace period", (service) => {
    const { depends_on, stop_grace_period, environment } = named(service);
    expect(depends_on).toEqual({
      zoo1: { condition: "service_healthy" },
      init: { condition: "service_completed_successfully" },
    });
    expect(parseInt(stop_grace_period ?? "0", 10) * 1000).toBeGreaterThan(Number(environment["SHUTDOWN_GRACE_MS"]));
  });

  test.each(FLEET)("%s gets settings that it has, and no other", async (service) => {
    const known = await settingsOf(service);
    const given = Object.keys(named(service).environment);
    expect(given.filter((name) => !known.includes(name) && !known.includes(name.replace(/_FILE$/, "")))).toEqual([]);
  });

  test("keeps secrets in files, and every secret and volume is declared and used", () => {
    for (const [, { environment }] of SERVICES) {
      for (const [name, value] of Object.entries(environment))
        if (/PASSWORD|SECRET|TOKEN/.test(name)) expect(String(value)).toMatch(/^\/run\/secrets\//);
    }
    const secrets = new Set(SERVICES.flatMap(([, service]) => service.secrets));
    expect([...secrets].sort()).toEqual(Object.keys(COMPOSE.secrets).sort());
    const volumes = SERVICES.flatMap(([, service]) => service.volumes.map((volume) => volume.split(":")[0]!));
    const inUse = new Set(volumes.filter((volume) => /^[a-z]/.test(volume)));
    expect([...inUse].sort()).toEqual(Object.keys(COMPOSE.volumes).sort());
  });

  test("mounts files of the checkout that are there", () => {
    const mounts = SERVICES.flatMap(([, { volumes }]) => volumes.map((volume) => filled(volume).split(":")[0]!));
    const ours = mounts.filter((path) => path.startsWith("./"));
    expect(ours.length).toBeGreaterThan(3);
    expect(ours.filter((path) => !existsSync(`${ROOT}${path}`))).toEqual([]);
  });
});

test.each(["small", "full"] as const)(
  "the settings of profile %s are used by the file, and suit every service",
  async (profile) => {
    const { COMPOSE_PROFILES, ...settings } = ENV[profile];
    expect(COMPOSE_PROFILES).toBe(profile);
    expect(Object.keys(settings).filter((name) => !TEXT.includes(`\${${name}:-`))).toEqual([]);
    const { readConfig } = await import("@sluice/stage-runtime");
    for (const service of FLEET) {
      const module = (await import(`${ROOT}services/${service}/src/config.ts`)) as Readonly<Record<string, unknown>>;
      const schema = Object.values(module).find(isSchema)! as Parameters<typeof readConfig>[0];
      const environment = Object.entries(named(service).environment).map(([k, v]) => [k, filled(String(v), settings)]);
      const env = { ...(await imageEnvironment()), ...(Object.fromEntries(environment) as Record<string, string>) };
      const readSecret = () => "mysql://sluice:secret@mariadb:3306/inventory";
      expect({ service, ...readConfig(schema, env, { readSecret }) }).toMatchObject({ service, ok: true });
    }
  },
);

/** What the image itself sets. */
async function imageEnvironment(): Promise<Readonly<Record<string, string>>> {
  const dockerfile = (await read("deploy/Dockerfile")).replaceAll("\\\n", " ");
  const lines = [...dockerfile.matchAll(/^ENV (.*)$/gm)].map(([, line = ""]) => line);
  return Object.fromEntries(
    lines.flatMap((line) => line.trim().split(/\s+/)).map((pair) => pair.split("=") as [string, string]),
  );
}

test("on the host's network nothing is published, and every container has doors of its own", async () => {
  const stripped = parseCompose(withoutPorts(TEXT));
  expect(Object.values(stripped.services).flatMap(({ ports }) => ports)).toEqual([]);
  expect(Object.keys(stripped.services)).toEqual(Object.keys(COMPOSE.services));
  const override = await read("deploy/compose/host-network.yml");
  const services = [...override.matchAll(/^ {2}([a-z0-9-]+):\n {4}network_mode: host$/gm)].map(([, name]) => name);
  expect(services.sort()).toEqual(Object.keys(COMPOSE.services).sort());
  const doors = [...override.matchAll(/(?:PORT|port): ?"?\$\{[A-Z0-9_]+:-(\d+)\}/g)].map(([, port]) => port);
  expect(new Set(doors).size).toBe(doors.length);
  const metrics = FLEET.map((service) => `${service.toUpperCase().replaceAll("-", "_")}_METRICS_PORT`);
  expect(metrics.filter((name) => !override.includes(`\${${name}:-`))).toEqual([]);
});

test("Prometheus finds every service of the compose file", async () => {
  const names = /^ +names: \[(.+)\]$/m.exec(await read("deploy/compose/prometheus.yml"))?.[1]?.split(", ");
  expect(names?.sort()).toEqual(FLEET);
});
