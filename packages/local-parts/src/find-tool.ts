import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";
import { aptInstall } from "./apt.ts";
import { silent, type Log } from "./log.ts";

const INSTALL_LIMIT_MS = 300_000;

export interface ToolQuery {
  /** Name of the environment variable that may hold the tool's path. */
  readonly env?: string;
  /** Other names of the command, and absolute paths where it may stand outside PATH. */
  readonly paths?: readonly string[];
  readonly aptPackage?: string;
  readonly log?: Log;
  readonly environment?: NodeJS.ProcessEnv;
}

export type ToolResult = { readonly path: string } | { readonly skip: string };

/** A tool of the machine: as the environment says, as installed, installed by apt when root, else the reason. */
export async function findTool(name: string, query: ToolQuery = {}): Promise<ToolResult> {
  const environment = query.environment ?? process.env;
  const named = query.env === undefined ? undefined : environment[query.env];
  if (named !== undefined) {
    return isExecutable(named) ? { path: named } : { skip: `${query.env}=${named} is not an executable file` };
  }
  const look = () => locate([name, ...(query.paths ?? [])], environment["PATH"] ?? "");
  const found = look();
  if (found !== null) return { path: found };
  if (query.aptPackage === undefined) return { skip: `${name} is not installed` };

  const signal = AbortSignal.timeout(INSTALL_LIMIT_MS);
  const installed = await aptInstall(query.aptPackage, query.log ?? silent, signal);
  if (!installed.ok) return { skip: `${name} is not installed, and ${installed.reason}` };
  const path = look();
  return path === null ? { skip: `package ${query.aptPackage} brought no ${name}` } : { path };
}

function locate(names: readonly string[], searchPath: string): string | null {
  const directories = searchPath.split(delimiter).filter((directory) => directory !== "");
  const candidates = names.flatMap((name) => (name.includes("/") ? [name] : directories.map((dir) => join(dir, name))));
  return candidates.find(isExecutable) ?? null;
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
