/** The environment of every container is read by the very schema that its service reads it with. */
import { type ConfigResult, type Environment, readConfig, type Relation } from "@sluice/stage-runtime";
import { posix } from "node:path";
import type { z } from "zod";
import { type Container, environmentOf, type KubernetesObject, podOf, servicesOf, type Workload } from "../object.ts";

export interface Settings {
  readonly schema: z.ZodObject;
  readonly relations: readonly Relation[];
}

export interface SettingsFacts {
  readonly settingsOf: (service: string) => Settings;
  /** A folder in which each Secret that is made by hand has its files, as samples: SECRET/KEY. */
  readonly secrets: string;
  readonly hasSample: (secret: string, key: string) => boolean;
}

/** A path, alone or as an embedded part is named: sqlite:/work/inventory.db. */
const PATH = /^(?:(?:sqlite|ocfl|outbox):)?(?<path>\/(?!\/).*)$/;

export function settingsProblems(objects: readonly KubernetesObject[], facts: SettingsFacts): readonly string[] {
  return servicesOf(objects).flatMap((workload) => {
    const { name } = workload.metadata;
    return podOf(workload)
      .containers.flatMap((container) => ofContainer(objects, workload, container, facts))
      .map((problem) => `${name}: ${problem}`);
  });
}

/** As the service would see them, with samples in the places of secrets. */
export function configOf(
  objects: readonly KubernetesObject[],
  workload: Workload,
  container: Container,
  facts: SettingsFacts,
): ConfigResult<Readonly<Record<string, unknown>>> {
  const { schema, relations } = facts.settingsOf(workload.metadata.name);
  const env = Object.entries(environmentOf(objects, container)).map(([name, value]) => {
    const mount = mountOf(container, value);
    const secret = secretOf(workload, mount?.name);
    return [name, secret === null ? value : value.replace(mount?.mountPath ?? "", posix.join(facts.secrets, secret))];
  });
  return readConfig(schema, Object.fromEntries(env) as Environment, { relations });
}

function ofContainer(
  objects: readonly KubernetesObject[],
  workload: Workload,
  container: Container,
  facts: SettingsFacts,
): readonly string[] {
  const known = Object.keys(facts.settingsOf(workload.metadata.name).schema.shape);
  const entries = Object.entries(environmentOf(objects, container));
  const unknown = entries.filter(([name]) => !known.includes(name) && !known.includes(name.replace(/_FILE$/, "")));
  const read = configOf(objects, workload, container, facts);
  return [
    ...unknown.map(([name]) => `${name} is no setting of it`),
    ...entries.flatMap(([name, value]) => pathProblem(workload, container, name, value, facts)),
    ...(read.ok ? relativePaths(read.config) : read.problems),
  ];
}

const mountOf = (container: Container, value: string) => {
  const path = PATH.exec(value)?.groups?.["path"] ?? "";
  return container.volumeMounts.find(({ mountPath }) => path === mountPath || path.startsWith(`${mountPath}/`));
};

const secretOf = (workload: Workload, volume: string | undefined): string | null =>
  podOf(workload).volumes.find(({ name }) => name === volume)?.secret?.secretName ?? null;

/** The root is read-only and holds nothing of an installation: whatever is named by a path stands on a volume. */
function pathProblem(
  workload: Workload,
  container: Container,
  name: string,
  value: string,
  facts: SettingsFacts,
): readonly string[] {
  if (!PATH.test(value)) return [];
  const mount = mountOf(container, value);
  if (mount === undefined) return [`${name} is ${value}, where nothing is mounted`];
  const secret = secretOf(workload, mount.name);
  const key = posix.relative(mount.mountPath, value);
  return secret === null || facts.hasSample(secret, key) ? [] : [`${name}: Secret ${secret} has no ${key}`];
}

/** A default of development: the root is read-only. */
const relativePaths = (config: Readonly<Record<string, unknown>>): readonly string[] =>
  Object.entries(config)
    .filter(([, value]) => JSON.stringify(value ?? null).includes("./data"))
    .map(([name]) => `${name} is not given, and its default is a folder of development`);
