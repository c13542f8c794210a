/** The compose file for a machine whose engine has no bridge: every container on the host's network. */
import { z } from "zod";
import { readYaml } from "./model.ts";

const ComposeFile = z.looseObject({ services: z.record(z.string(), z.looseObject({})) });

/**
 * Without published ports, which old compose refuses together with the host's network. What else is different stands in
 * deploy/compose/host-network.yml, an override like any other.
 */
export function withoutPorts(text: string): string {
  const file = ComposeFile.parse(readYaml(text));
  const services = Object.entries(file.services).map(([name, service]) => {
    const { ports: _, ...rest } = service;
    return [name, rest] as const;
  });
  // JSON is YAML of every version: an unquoted `on` is a text in one and a truth in another.
  return JSON.stringify({ ...file, services: Object.fromEntries(services) }, null, 2);
}
