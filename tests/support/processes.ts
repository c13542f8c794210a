/** The process table, as far as tests need it. */
import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { promisify } from "node:util";
import { waitFor } from "@sluice/testkit";

export interface ProcessRow {
  readonly pid: number;
  readonly parent: number;
  /** As ps says: T stopped, Z dead and not yet fetched, … */
  readonly state: string;
  readonly command: string;
}

export async function processes(): Promise<readonly ProcessRow[]> {
  const { stdout } = await promisify(execFile)("ps", ["-eo", "pid=,ppid=,stat=,args="], { maxBuffer: 16_000_000 });
  return stdout.split("\n").flatMap((line) => {
    const [, pid, parent, state = "", command = ""] = /^\s*(\d+)\s+(\d+)\s+(\S+)\s+(.*)$/.exec(line) ?? [];
    return pid === undefined ? [] : [{ pid: Number(pid), parent: Number(parent), state, command }];
  });
}

const ENDED = "Z";
const STOPPED = "T";

export const childrenOf = async (pid: number): Promise<readonly ProcessRow[]> =>
  (await processes()).filter(({ parent, state }) => parent === pid && !state.startsWith(ENDED));

/** Those that still run as what they were: a pid may have been given to another process. */
export async function stillRunning(rows: readonly ProcessRow[]): Promise<readonly ProcessRow[]> {
  const now = new Map((await processes()).map((row) => [row.pid, row]));
  return rows.filter(({ pid, command }) => {
    const found = now.get(pid);
    return found?.command === command && !found.state.startsWith(ENDED);
  });
}

/** By the file where there is one: it is looked at often, and a ps is a process of its own. */
async function isStopped(pid: number): Promise<boolean> {
  if (process.platform !== "linux") {
    return (await processes()).some((row) => row.pid === pid && row.state.startsWith(STOPPED));
  }
  return /^State:\s*T/m.test(await readFile(`/proc/${pid}/status`, "utf8").catch(() => ""));
}

export async function untilStopped(pid: number, what: string): Promise<void> {
  await waitFor(() => isStopped(pid), { what: `${what} (pid ${pid}) stopped` });
}
