import { readFileSync } from "node:fs";
import { runCommand } from "./run-command.ts";

export interface ProcessInfo {
  readonly parent: number;
  readonly command: string;
}

/** What runs under this pid; null when nothing does (a zombie counts as nothing). */
export async function processInfo(pid: number): Promise<ProcessInfo | null> {
  if (process.platform === "linux") return fromProc(pid);
  const { ok, output } = await runCommand("ps", ["-o", "ppid=,command=", "-p", String(pid)]);
  const match = /^\s*(\d+)\s+(\S.*)$/s.exec(output);
  return ok && match !== null ? { parent: Number(match[1]), command: match[2] ?? "" } : null;
}

/** Signal 0 only asks; EPERM is the answer of a process of somebody else's. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}

function fromProc(pid: number): ProcessInfo | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The second field is the name in brackets and may hold anything; the fields after it are plain.
    const [state, parent] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    if (state === "Z") return null;
    return { parent: Number(parent), command: readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ") };
  } catch {
    return null;
  }
}
