/** The shared libraries that programs are linked with, as the system's loader finds them. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { findProgram } from "./find-program.ts";

const run = promisify(execFile);
const OUTPUT_BYTES = 16 * 1024 * 1024;
/** In one call: a command line has an end. */
const AT_ONCE = 200;

export async function librariesOf(programs: readonly string[]): Promise<readonly string[]> {
  const ldd = await findProgram("ldd");
  if (ldd === null) return [];
  const libraries = new Set<string>();
  for (let at = 0; at < programs.length; at += AT_ONCE) {
    // It complains of files that are no programs, and tells of the others.
    const asked = run(ldd, programs.slice(at, at + AT_ONCE), { maxBuffer: OUTPUT_BYTES });
    const { stdout } = await asked.catch((error: unknown) => error as { readonly stdout?: string });
    for (const [library] of (stdout ?? "").matchAll(/(?<!\S)\/\S+(?= \(0x)/g)) libraries.add(library);
  }
  return [...libraries];
}
