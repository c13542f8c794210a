/** Keeps the processes of the fleet running: a service that dies is started again, later each time. */
import { open, stat } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { type Child, startChild } from "@sluice/local-parts";
import { keepLogsBounded } from "./bounded-logs.ts";
import type { Instance } from "./instances.ts";

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));
/** A service ends so when its configuration is wrong: starting it again would not help. */
const EXIT_CONFIGURATION = "exit code 78";
const BACKOFF_MS = { first: 500, most: 15_000 } as const;
/** One that ran this long is taken as healthy: its next end is a new story. */
const HEALTHY_AFTER_MS = 30_000;
const LOG_TAIL_BYTES = 4_000;
/** Longer than the services' own SHUTDOWN_GRACE_MS. */
const GRACE_MS = 30_000;

export interface Supervisor {
  /** Rejects with the service's own message when a configuration is wrong. */
  readonly fatal: Promise<never>;
  /** Ends all, in the order of the pipeline, each within its own grace period. */
  stop(): Promise<void>;
}

export function supervise(instances: readonly Instance[], say: (line: string) => void): Supervisor {
  const stopping = new AbortController();
  const running = new Map<string, Child>();
  const loops = instances.map((instance) => keepRunning(instance, running, stopping.signal, say));
  const stopBounding = keepLogsBounded(
    instances.map(({ logFile }) => logFile),
    say,
  );
  const fatal = new Promise<never>((_, reject) => loops.forEach((loop) => void loop.catch(reject)));
  fatal.catch(() => undefined);
  return {
    fatal,
    stop: async () => {
      stopping.abort();
      stopBounding();
      await Promise.all([...running.values()].map(endInTime));
      await Promise.allSettled(loops);
    },
  };
}

/** A service hands its jobs back within its own grace period; one that does not is beyond words. */
async function endInTime(child: Child): Promise<void> {
  const inTime = new AbortController();
  const late = sleep(GRACE_MS, "late", { signal: inTime.signal }).catch(() => "in time");
  const ended = child.kill("SIGTERM").then(() => "in time");
  if ((await Promise.race([ended, late])) === "late") await child.kill("SIGKILL");
  inTime.abort();
}

async function keepRunning(
  instance: Instance,
  running: Map<string, Child>,
  stopping: AbortSignal,
  say: (line: string) => void,
): Promise<void> {
  let delayMs: number = BACKOFF_MS.first;
  const isStopping = (): boolean => stopping.aborted;
  while (!isStopping()) {
    const logStart = await sizeOf(instance.logFile);
    const startedMs = performance.now();
    const child = await startChild({
      command: process.execPath,
      args: ["--enable-source-maps", `dist/programs/${instance.service}.js`],
      cwd: ROOT,
      logFile: instance.logFile,
      env: { ...process.env, ...instance.env },
    });
    running.set(instance.name, child);
    const reason = await child.exited;
    running.delete(instance.name);
    if (isStopping()) return;
    if (reason === EXIT_CONFIGURATION) {
      throw new Error(`${instance.name} cannot start:\n${await readFrom(instance.logFile, logStart)}`);
    }
    if (performance.now() - startedMs > HEALTHY_AFTER_MS) delayMs = BACKOFF_MS.first;
    say(`${instance.name} ended (${reason}); starting it again in ${delayMs / 1000} s; its log is ${instance.logFile}`);
    await sleep(delayMs, undefined, { signal: stopping }).catch(() => undefined);
    delayMs = Math.min(delayMs * 2, BACKOFF_MS.most);
  }
}

const sizeOf = async (file: string): Promise<number> => (await stat(file).catch(() => null))?.size ?? 0;

/** What the process wrote, its end if it was much. */
async function readFrom(file: string, start: number): Promise<string> {
  const handle = await open(file, "r");
  try {
    const { size } = await handle.stat();
    // A log that is shorter than it was has been set aside meanwhile.
    const from = Math.max(start > size ? 0 : start, size - LOG_TAIL_BYTES);
    const buffer = Buffer.alloc(size - from);
    await handle.read(buffer, 0, buffer.length, from);
    return buffer.toString("utf8").trim();
  } finally {
    await handle.close();
  }
}
