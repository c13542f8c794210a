/** What the processes behind the walls use, as the system counts it. */
import { readdir, readFile } from "node:fs/promises";

export interface Use {
  /** Of all that run, and of those that have ended before them. */
  readonly cpuMs: number;
  readonly bytes: number;
}

/** USER_HZ, which Linux has fixed for everything in /proc. */
const TICKS_PER_SECOND = 100;
const PAGE_BYTES = 4_096;
/** A box cannot have more. */
const PROCESSES_MOST = 200;

/** Of the process and of all that it started in front of itself; null where the system does not tell. */
export async function useOf(pid: number): Promise<Use | null> {
  const uses: Use[] = [];
  const next = [pid];
  for (let seen = 0; seen < PROCESSES_MOST; seen += 1) {
    const at = next.pop();
    if (at === undefined) break;
    const own = await useOfOne(at);
    if (own === null) continue;
    uses.push(own);
    for (const child of await childrenOf(at)) next.push(child);
  }
  const sumOf = (of: (use: Use) => number): number => uses.reduce((sum, each) => sum + of(each), 0);
  return uses.length === 0 ? null : { cpuMs: sumOf((use) => use.cpuMs), bytes: sumOf((use) => use.bytes) };
}

/** Any of its threads may have started them. */
async function childrenOf(pid: number): Promise<readonly number[]> {
  const threads = await readdir(`/proc/${pid}/task`).catch(() => []);
  const lists = await Promise.all(
    threads.map((thread) => readFile(`/proc/${pid}/task/${thread}/children`, "utf8").catch(() => "")),
  );
  return lists.flatMap((list) => list.split(" ").filter((each) => each !== "")).map(Number);
}

async function useOfOne(pid: number): Promise<Use | null> {
  const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => null);
  if (stat === null) return null;
  // The name, in brackets, may hold anything: what counts stands behind its end.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const [user, system, childrenUser, childrenSystem] = fields.slice(11, 15).map(Number);
  const ticks = (user ?? 0) + (system ?? 0) + (childrenUser ?? 0) + (childrenSystem ?? 0);
  return { cpuMs: (ticks * 1_000) / TICKS_PER_SECOND, bytes: Number(fields[21] ?? 0) * PAGE_BYTES };
}
