/** Two servers on one data directory destroy it: before a start, see whether one is still there. */
import { readFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import type { Log } from "../log.ts";
import { processInfo } from "../process-table.ts";
import { layoutOf } from "./configuration.ts";

const POLL_MS = 100;

export interface PidRecord {
  readonly pid: number;
  /** The process that started it and should stop it. */
  readonly owner: number;
}

/** Ends a server whose owner is gone. Returns the reason when the directory is rightly in use. */
export async function endOrphan(dataDir: string, log: Log): Promise<string | null> {
  const { pidFile, configFile } = layoutOf(dataDir);
  const record = await readRecord(pidFile);
  if (record === null) return null;
  // The pid may belong to something else by now: only a process that runs on our configuration is meant.
  const server = async () => {
    const info = await processInfo(record.pid);
    return info?.command.includes(configFile) === true ? info : null;
  };
  const found = await server();
  if (found === null) return null;
  if (found.parent === record.owner) {
    return `${dataDir} is in use by the ZooKeeper with pid ${record.pid}, started by process ${record.owner}`;
  }
  log(`ending a ZooKeeper (pid ${record.pid}) that outlived its owner`);
  process.kill(record.pid, "SIGKILL");
  while ((await server()) !== null) await sleep(POLL_MS);
  return null;
}

async function readRecord(pidFile: string): Promise<PidRecord | null> {
  try {
    const parsed: unknown = JSON.parse(await readFile(pidFile, "utf8"));
    return isRecord(parsed) ? parsed : null;
  } catch {
    return null;
  }
}

const isRecord = (value: unknown): value is PidRecord =>
  typeof value === "object" &&
  value !== null &&
  "pid" in value &&
  "owner" in value &&
  typeof value.pid === "number" &&
  typeof value.owner === "number";
