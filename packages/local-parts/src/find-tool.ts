import { installPart } from "./debian/install.ts";
import { PARTS, type PartName } from "./debian/parts.ts";
import { isExecutable, locate } from "./locate.ts";
import type { Log } from "./log.ts";

export interface ToolQuery {
  /** Name of the environment variable that may hold the tool's path. */
  readonly env?: string;
  /** Other names of the command, and absolute paths where it may stand outside PATH. */
  readonly paths?: readonly string[];
  /** The part to install, as root on Debian, where the tool is missing. */
  readonly part?: PartName;
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
  const look = () => locate([name, ...(query.paths ?? [])], environment);
  const found = look();
  if (found !== null) return { path: found };
  if (query.part === undefined) return { skip: `${name} is not installed` };

  const installed = await installPart(query.part, query.log);
  if (!installed.ok) return { skip: `${name} is not installed, and ${installed.reason}` };
  const path = look();
  return path === null ? { skip: `${PARTS[query.part].packages.join(", ")}: no ${name} in it` } : { path };
}
