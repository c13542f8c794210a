import { createHash } from "node:crypto";
import { lstatSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Findings } from "./finding.ts";

export interface Entry {
  readonly name: string;
  readonly path: string;
  readonly kind: "file" | "folder";
}

/** The entries of a folder; links of either sort are E090. */
export function entriesOf(folder: string, findings: Findings): Entry[] {
  return readdirSync(folder)
    .sort()
    .map((name) => {
      const path = join(folder, name);
      const stat = lstatSync(path);
      findings.unless(stat.isDirectory() || stat.isFile(), "E090", `${path} is neither file nor folder`);
      findings.unless(!stat.isFile() || stat.nlink === 1, "E090", `${path} has hard links`);
      return { name, path, kind: stat.isDirectory() ? "folder" : "file" };
    });
}

/** Relative paths of all files; empty folders are `emptyCode`. */
export function filesBelow(folder: string, findings: Findings, emptyCode: string, prefix = ""): string[] {
  const entries = entriesOf(folder, findings);
  if (entries.length === 0) findings.add(emptyCode, `${folder} is empty`);
  return entries.flatMap(({ name, path, kind }) =>
    kind === "file" ? [prefix + name] : filesBelow(path, findings, emptyCode, `${prefix}${name}/`),
  );
}

export const digestOf = (algorithm: string, path: string): string =>
  createHash(algorithm).update(readFileSync(path)).digest("hex");

export function parseJsonFile(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, "utf8")) as unknown;
  } catch {
    return undefined;
  }
}
