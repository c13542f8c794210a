import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";

/** The first of the names that is an executable file: on PATH, or where it says if it is a path. */
export function locate(names: readonly string[], environment: NodeJS.ProcessEnv): string | null {
  const directories = (environment["PATH"] ?? "").split(delimiter).filter((directory) => directory !== "");
  const candidates = names.flatMap((name) => (name.includes("/") ? [name] : directories.map((dir) => join(dir, name))));
  return candidates.find(isExecutable) ?? null;
}

export function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
