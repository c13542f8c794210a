/** A fleet under compose, in a project of its own: started, looked at, ended with everything it made. */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { runCommand } from "@sluice/local-parts";
import { z } from "zod";
import type { ComposeCommand } from "../compose/command.ts";
import { withoutPorts } from "../compose/host-network.ts";
import type { Docker } from "../docker.ts";

export interface FleetParts {
  readonly root: string;
  /** For the files that are made for this fleet. */
  readonly folder: string;
  readonly project: string;
  readonly compose: ComposeCommand;
  readonly docker: Docker;
  readonly settings: Readonly<Record<string, string>>;
}

const Container = z.object({
  State: z.object({
    Status: z.string(),
    ExitCode: z.number(),
    Health: z.object({ Status: z.string(), Log: z.array(z.object({ Output: z.string() })).nullable() }).optional(),
  }),
});
export type ContainerState = z.infer<typeof Container>["State"];

const LOOK_AGAIN_MS = 500;
const HEALTHY_LIMIT_MS = 300_000;

export type ComposeFleet = Awaited<ReturnType<typeof prepareFleet>>;

export async function prepareFleet({ root, folder, project, compose, docker, settings }: FleetParts) {
  const stripped = join(folder, "docker-compose.yml");
  await writeFile(stripped, withoutPorts(await readFile(join(root, "docker-compose.yml"), "utf8")));
  const files = [stripped, join(root, "deploy/compose/host-network.yml")].flatMap((file) => ["--file", file]);
  const where = ["--project-directory", root, "--project-name", project, ...files, "--profile", "full"];
  const env = { ...docker.env, ...settings };

  const run = async (...args: readonly string[]): Promise<string> => {
    const { ok, output } = await runCommand(compose.command, [...compose.first, ...where, ...args], { env });
    if (!ok) throw new Error(`compose ${args.join(" ")}:\n${output}`);
    return output;
  };
  const idOf = async (service: string): Promise<string> => {
    const label = ["--filter", `label=com.docker.compose.project=${project}`];
    const ids = await docker.run("ps", "-aq", ...label, "--filter", `label=com.docker.compose.service=${service}`);
    if (ids === "") throw new Error(`${service} has no container`);
    return ids.split("\n")[0] ?? "";
  };
  const stateOf = async (service: string): Promise<ContainerState> => {
    const shown: unknown = JSON.parse(await docker.run("inspect", await idOf(service)));
    return z.array(Container).min(1).parse(shown)[0]?.State ?? missing(service);
  };
  return {
    run,
    stateOf,
    idOf,
    signal: async (service: string, signal: string): Promise<void> => {
      await docker.run("kill", "--signal", signal, await idOf(service));
    },
    start: async (service: string): Promise<void> => {
      await docker.run("start", await idOf(service));
    },
    stop: async (service: string): Promise<void> => {
      await docker.run("stop", await idOf(service));
    },
    logsOf: async (service: string) => await docker.run("logs", "--tail", "20", await idOf(service)),
    untilHealthy: async (services: readonly string[]): Promise<void> => {
      const deadline = performance.now() + HEALTHY_LIMIT_MS;
      for (const service of services) {
        for (let state = await stateOf(service); state.Health?.Status !== "healthy"; state = await stateOf(service)) {
          if (performance.now() > deadline)
            throw new Error(`${service} is not healthy: ${state.Status}, ${state.Health?.Log?.at(-1)?.Output ?? ""}`);
          await sleep(LOOK_AGAIN_MS);
        }
      }
    },
  };
}

const missing = (service: string): never => {
  throw new Error(`${service} has no state`);
};
