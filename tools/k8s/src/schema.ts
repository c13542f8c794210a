/**
 * What the API server would say about an object, from the schemas of Kubernetes, KEDA and the Prometheus operator.
 *
 * Their compiled validators let unknown fields pass, as do the schemas. But a validator asks for every field that it knows, and
 * goes through all keys where any are allowed: so it is given an object that remembers what was asked for, and whatever
 * nobody asked for is unknown.
 */
import type { KubernetesObject } from "./object.ts";
import { titleOf } from "./object.ts";

const PACKAGES: readonly (readonly [groups: RegExp, name: string])[] = [
  [/(^|\.)keda\.sh\//, "@kubernetes-models/keda"],
  [/^monitoring\.coreos\.com\//, "@kubernetes-models/prometheus-operator"],
  [/^(v1$|apps\/|autoscaling\/|batch\/|policy\/|[a-z.]+\.k8s\.io\/)/, "kubernetes-models"],
];

interface Model {
  readonly prototype: { readonly validate: (this: object) => void };
}
const isModel = (value: unknown): value is Model =>
  typeof value === "function" &&
  typeof (value.prototype as { validate?: unknown } | undefined)?.validate === "function";

async function modelOf({ apiVersion, kind }: KubernetesObject): Promise<Model | null> {
  const name = PACKAGES.find(([groups]) => groups.test(apiVersion))?.[1];
  if (name === undefined) return null;
  // Of the kind alone: a whole group is hundreds of files.
  const module: unknown = await import(`${name}/${apiVersion}/${kind}`).catch(() => null);
  const model = (module as Readonly<Record<string, unknown>> | null)?.[kind];
  return isModel(model) ? model : null;
}

type Asked = WeakMap<object, Set<string | symbol>>;
const EVERY_KEY = Symbol("every key");

function remembering(target: object, asked: Asked): object {
  const keys = asked.get(target) ?? new Set();
  asked.set(target, keys);
  return new Proxy(target, {
    get(object, key) {
      keys.add(key);
      const value: unknown = Reflect.get(object, key);
      return typeof value === "object" && value !== null ? remembering(value, asked) : value;
    },
    ownKeys(object) {
      keys.add(EVERY_KEY);
      return Reflect.ownKeys(object);
    },
  });
}

function neverAsked(value: unknown, asked: Asked, path: string): readonly string[] {
  if (typeof value !== "object" || value === null) return [];
  const keys = asked.get(value) ?? new Set();
  return Object.entries(value).flatMap(([key, inner]) =>
    keys.has(key) || keys.has(EVERY_KEY) ? neverAsked(inner, asked, `${path}/${key}`) : [`${path}/${key}`],
  );
}

export async function schemaProblems(objects: readonly KubernetesObject[]): Promise<readonly string[]> {
  const problems: string[] = [];
  for (const object of objects) for (const each of await problemsOf(object)) problems.push(each);
  return problems;
}

async function problemsOf(object: KubernetesObject): Promise<readonly string[]> {
  const title = titleOf(object);
  const model = await modelOf(object);
  if (model === null) return [`${title}: there is no schema for ${object.apiVersion}`];
  const asked: Asked = new WeakMap();
  const problems: string[] = [];
  try {
    model.prototype.validate.call(remembering(object, asked));
  } catch (error) {
    problems.push(`${title}: ${error instanceof Error ? error.message : String(error)}`);
  }
  return [...problems, ...neverAsked(object, asked, "").map((path) => `${title}: unknown field ${path}`)];
}
