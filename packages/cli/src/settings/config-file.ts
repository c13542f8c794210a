/** ~/.config/sluice/config.yaml: contexts, and which of them is current. */
import { chmod, mkdir, readFile, rename, stat, writeFile } from "node:fs/promises";
import { dirname, isAbsolute, join } from "node:path";
import { parse, stringify } from "yaml";
import { z } from "zod";
import type { Io } from "../io.ts";

const address = z.string().regex(/^https?:\/\/[^\s@]+$/, "expected an http or https address without a user name");

const ContextSchema = z.strictObject({
  intake: address.optional(),
  admin: address.optional(),
  jobs: address.optional(),
  token: z.string().min(1).optional(),
  token_file: z.string().min(1).optional(),
});
export type SavedContext = z.infer<typeof ContextSchema>;

const ConfigSchema = z.strictObject({
  current: z.string().optional(),
  contexts: z.record(z.string(), ContextSchema).default({}),
});
export type Config = z.infer<typeof ConfigSchema>;

export type ConfigRead =
  | { readonly ok: true; readonly config: Config; readonly path: string; readonly warnings: readonly string[] }
  | { readonly ok: false; readonly why: string };

export function configPath({ env, home }: Pick<Io, "env" | "home">): string {
  const given = env["SLUICE_CONFIG"] ?? "";
  if (given !== "") return given;
  const xdg = env["XDG_CONFIG_HOME"] ?? "";
  return join(isAbsolute(xdg) ? xdg : join(home, ".config"), "sluice", "config.yaml");
}

export async function readConfigFile(io: Pick<Io, "env" | "home">): Promise<ConfigRead> {
  const path = configPath(io);
  let text: string;
  try {
    text = await readFile(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT")
      return { ok: true, config: { contexts: {} }, path, warnings: [] };
    return { ok: false, why: `${path} cannot be read: ${(error as Error).message}` };
  }
  const config = ConfigSchema.safeParse(parsed(text) ?? {});
  if (!config.success) {
    const problems = config.error.issues.map((issue) => `${issue.path.join(".")}: ${issue.message}`);
    return { ok: false, why: `${path} is wrong: ${problems.join("; ")}` };
  }
  const holdsTokens = Object.values(config.data.contexts).some(({ token }) => token !== undefined);
  const open = holdsTokens && ((await stat(path)).mode & 0o077) !== 0;
  return {
    ok: true,
    config: config.data,
    path,
    warnings: open ? [`${path} holds a token and others may read it: chmod 600 ${path}`] : [],
  };
}

/** Whatever is not YAML is refused by the schema: a text is no mapping. */
function parsed(text: string): unknown {
  try {
    return parse(text) as unknown;
  } catch {
    return "no YAML";
  }
}

/** Readable to its owner alone; there is never half a file. */
export async function writeConfigFile(path: string, config: Config): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const partial = `${path}.partial`;
  await writeFile(partial, stringify(config), { mode: 0o600 });
  await chmod(partial, 0o600);
  await rename(partial, path);
}
