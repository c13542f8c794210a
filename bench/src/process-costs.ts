/** What a process has taken: the most memory in use at once (VmHWM), and processor time. Linux keeps count. */
import { readFile } from "node:fs/promises";

export const LIMIT_MB = 300;

export async function peakMb(pid: number | "self"): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, "utf8");
  return Math.round(Number(/^VmHWM:\s*(\d+) kB$/m.exec(status)?.[1] ?? Number.NaN) / 1024);
}

const TICKS_PER_SECOND = 100;

/** User and system time. The second field of the file may have spaces and is in parentheses. */
export async function cpuSeconds(pid: number): Promise<number> {
  const fields = (await readFile(`/proc/${pid}/stat`, "utf8")).replace(/^.*\) /s, "").split(" ");
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
}
