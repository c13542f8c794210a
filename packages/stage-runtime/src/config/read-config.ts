/** The environment becomes a frozen, typed object once, whole; whatever is wrong is said at once, by variable name. */
import { readFileSync } from "node:fs";
import type { z } from "zod";
import { BASE_RELATIONS } from "./base-config.ts";
import { brokenRelations, type Relation } from "./relations.ts";

export type Environment = Readonly<Record<string, string | undefined>>;

export type ConfigResult<C> =
  { readonly ok: true; readonly config: Readonly<C> } | { readonly ok: false; readonly problems: readonly string[] };

export interface ReadConfigOptions {
  readonly relations?: readonly Relation[];
  readonly readSecret?: (file: string) => string;
}

const SECRET_SUFFIX = "_FILE";

export function readConfig<S extends z.ZodObject>(
  schema: S,
  env: Environment,
  { relations = [], readSecret = (file) => readFileSync(file, "utf8") }: ReadConfigOptions = {},
): ConfigResult<z.output<S>> {
  const names = Object.keys(schema.shape);
  const problems: string[] = [];
  const raw = withSecrets(names, env, readSecret, problems);
  const values: Record<string, unknown> = {};
  for (const name of names) {
    const parsed = (schema.shape[name] as z.ZodType).safeParse(raw[name]);
    if (parsed.success) values[name] = parsed.data;
    else for (const issue of parsed.error.issues) problems.push(`${name}: ${issue.message}`);
  }
  for (const each of brokenRelations([...BASE_RELATIONS, ...relations], values)) problems.push(each);
  const whole = schema.safeParse(raw);
  // The schema's own refinements run only when every value is right; its other issues have been said above.
  if (problems.length === 0 && !whole.success)
    for (const issue of whole.error.issues) problems.push(`${issue.path.join(".")}: ${issue.message}`);
  if (problems.length > 0 || !whole.success) return { ok: false, problems };
  return { ok: true, config: Object.freeze(whole.data) };
}

/** Empty counts as unset, as in a compose file's `X: ${X:-}`. */
const given = (env: Environment, name: string): string | undefined => (env[name] === "" ? undefined : env[name]);

/** `X_FILE` names a file that holds X: secrets are mounted, not put into the environment. */
function withSecrets(
  names: readonly string[],
  env: Environment,
  readSecret: (file: string) => string,
  problems: string[],
): Record<string, string | undefined> {
  const raw: Record<string, string | undefined> = {};
  for (const name of names) {
    raw[name] = given(env, name);
    const file = given(env, name + SECRET_SUFFIX);
    if (file === undefined) continue;
    if (raw[name] !== undefined) problems.push(`${name}: set together with ${name}${SECRET_SUFFIX}`);
    try {
      const secret = readSecret(file).trim();
      // Where the file is a setting of its own, it is read again and again (`heldToken`); now it must only be there.
      if (!names.includes(name + SECRET_SUFFIX)) raw[name] = secret;
      else if (secret === "") problems.push(`${name}${SECRET_SUFFIX}: names an empty file`);
    } catch (error) {
      problems.push(`${name}${SECRET_SUFFIX}: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  return raw;
}
