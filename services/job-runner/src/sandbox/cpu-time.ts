/** The processor time of a program behind the walls, as the system counts it. */
import { readFile } from "node:fs/promises";

/** USER_HZ, which Linux has fixed for everything in /proc. */
const TICKS_PER_SECOND = 100;
const DEPTH_MAX = 4;

/** Of the process and of those it started in front of itself; null where the system does not tell. */
export async function cpuMs(pid: number): Promise<number | null> {
  let total = 0;
  let next: number | null = pid;
  for (let depth = 0; next !== null && depth < DEPTH_MAX; depth += 1) {
    const stat: string | null = await readFile(`/proc/${next}/stat`, "utf8").catch(() => null);
    if (stat === null) return depth === 0 ? null : total;
    // The name, in brackets, may hold anything: what counts stands behind its end.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    total += ((Number(fields[11]) + Number(fields[12])) * 1_000) / TICKS_PER_SECOND;
    const children: string = await readFile(`/proc/${next}/task/${next}/children`, "utf8").catch(() => "");
    const first = children.trim().split(" ")[0];
    next = first === undefined || first === "" ? null : Number(first);
  }
  return total;
}
