/** docker-compose.yml as far as it is checked. */
import { parse } from "yaml";
import { z } from "zod";

const Value = z.union([z.string(), z.number(), z.boolean()]);

const Service = z.looseObject({
  image: z.string(),
  profiles: z.array(z.enum(["small", "full"])).min(1),
  environment: z.record(z.string(), Value).default({}),
  healthcheck: z.looseObject({ test: z.array(z.string()).optional(), disable: z.boolean().optional() }).optional(),
  depends_on: z.record(z.string(), z.object({ condition: z.string() })).default({}),
  ports: z.array(z.string()).default([]),
  volumes: z.array(z.string()).default([]),
  secrets: z.array(z.string()).default([]),
  restart: z.string(),
  read_only: z.boolean().default(false),
  cap_drop: z.array(z.string()).default([]),
  stop_grace_period: z.string().optional(),
});
export type ComposeService = z.infer<typeof Service>;

const Compose = z.looseObject({
  services: z.record(z.string(), Service),
  secrets: z.record(z.string(), z.strictObject({ file: z.string() })),
  volumes: z.record(z.string(), z.null()),
});

/** Our own file: its many aliases are no attack. */
export const readYaml = (text: string): unknown => parse(text, { merge: true, maxAliasCount: -1 });

export const parseCompose = (text: string) => Compose.parse(readYaml(text));

/** As compose fills them in: `${NAME:-default}`, and `${NAME:-}` is empty. */
export const filled = (text: string, given: Readonly<Record<string, string>> = {}): string =>
  text.replace(/\$\{(\w+)(?::-([^}]*))?\}/g, (_, name: string, otherwise = "") => given[name] ?? String(otherwise));

/** The lines of an env file. */
export const parseEnvFile = (text: string): Readonly<Record<string, string>> =>
  Object.fromEntries(
    [...text.matchAll(/^([A-Z][A-Z0-9_]*)=(.*)$/gm)].map(([, name = "", value = ""]) => [name, value]),
  );
