import { existsSync } from "node:fs";
import { basename } from "node:path";
import { locate } from "../locate.ts";
import { silent, type Log } from "../log.ts";
import { aptInstall, type AptResult } from "./apt.ts";
import { PARTS, type Part, type PartName } from "./parts.ts";

const INSTALL_LIMIT_MS = 300_000;

/** Commands of the part that are neither on PATH nor where Debian puts them. */
export const missingCommands = (name: PartName, environment: NodeJS.ProcessEnv = process.env): readonly string[] =>
  PARTS[name].commands.filter((path) => locate([basename(path), path], environment) === null);

/** Files of the part that are not where Debian puts them. */
export const missingFiles = (name: PartName): readonly string[] => {
  const { files }: Part = PARTS[name];
  return files.filter((path) => !existsSync(path));
};

/** All packages of a part at once: one of them alone may leave the others' commands behind. */
export const installPart = (
  name: PartName,
  log: Log = silent,
  signal: AbortSignal = AbortSignal.timeout(INSTALL_LIMIT_MS),
): Promise<AptResult> => aptInstall(PARTS[name].packages, log, signal);

/** Those that are not here, or not whole, in one transaction of apt. */
export async function installParts(names: readonly PartName[], log: Log): Promise<AptResult> {
  const missing = names.filter((name) => missingCommands(name).length + missingFiles(name).length > 0);
  if (missing.length === 0) return { ok: true };
  const packages = missing.flatMap((name) => [...PARTS[name].packages]);
  return await aptInstall(packages, log, AbortSignal.timeout(INSTALL_LIMIT_MS));
}
