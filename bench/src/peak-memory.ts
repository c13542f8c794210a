/** The most memory that a process has had in use (VmHWM): Linux keeps count. */
import { readFile } from "node:fs/promises";

export const LIMIT_MB = 300;

export async function peakMb(pid: number | "self"): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, "utf8");
  return Math.round(Number(/^VmHWM:\s*(\d+) kB$/m.exec(status)?.[1] ?? Number.NaN) / 1024);
}
