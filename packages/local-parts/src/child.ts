/**
 * A long-lived child that does not outlive its parent.
 *
 * It stands in a process group of its own, so that Ctrl-C reaches only the parent, which then stops its children in
 * order. A parent that is killed cannot do so: a small shell waits on a pipe that only the parent holds open, and when
 * the pipe ends it ends the child, first politely, then by force.
 */
import { spawn, type ChildProcess } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

const GRACE_MS = 10_000;
const GUARD_SCRIPT =
  'while read -r _; do :; done; kill -TERM "$0"; for i in 1 2 3 4 5; do sleep 1; kill -0 "$0" || exit; done; kill -KILL "$0"';

export interface Child {
  readonly pid: number;
  /** Resolves when it has ended, with the reason in words. */
  readonly exited: Promise<string>;
  /** Returns once the signal is sent, or for one that ends the process, once it has ended. */
  kill(signal: NodeJS.Signals): Promise<void>;
  stop(): Promise<void>;
}

export interface ChildOptions {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  /** Receives both output streams. */
  readonly logFile: string;
  /** Default: this process's. */
  readonly env?: NodeJS.ProcessEnv;
}

/** Throws if the command cannot be started at all. */
export async function startChild({ command, args, cwd, logFile, env }: ChildOptions): Promise<Child> {
  const output = openSync(logFile, "a");
  const child = spawn(command, args, { cwd, env, detached: true, stdio: ["ignore", output, output] });
  closeSync(output);
  const exited = new Promise<string>((resolve) => {
    child.once("exit", (code, signal) => resolve(signal === null ? `exit code ${code ?? "?"}` : `signal ${signal}`));
  });
  const pid = await started(child);
  const guard = startGuard(pid);
  void exited.then(() => guard.kill("SIGKILL"));
  child.unref();
  return { pid, exited, kill: (signal) => kill(child, exited, signal), stop: () => stop(child, exited) };
}

const started = (child: ChildProcess): Promise<number> =>
  new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("spawn", () => resolve(child.pid ?? 0));
  });

function startGuard(pid: number): ChildProcess {
  const guard = spawn("/bin/sh", ["-c", GUARD_SCRIPT, String(pid)], {
    detached: true,
    stdio: ["pipe", "ignore", "ignore"],
  });
  // Without a guard the child outlives a killed parent, and the next start sweeps it; no reason to end.
  guard.on("error", () => undefined);
  guard.unref();
  const pipe = guard.stdin as (NodeJS.WritableStream & { unref?: () => void }) | null;
  pipe?.unref?.();
  pipe?.on("error", () => undefined);
  return guard;
}

async function kill(child: ChildProcess, exited: Promise<string>, signal: NodeJS.Signals): Promise<void> {
  if (hasEnded(child)) return;
  child.ref();
  child.kill(signal);
  if (signal === "SIGKILL" || signal === "SIGTERM") await exited;
  else child.unref();
}

async function stop(child: ChildProcess, exited: Promise<string>): Promise<void> {
  if (hasEnded(child)) return;
  child.ref();
  child.kill("SIGTERM");
  // A stopped process sees no SIGTERM until it goes on.
  child.kill("SIGCONT");
  const timer = new AbortController();
  const late = sleep(GRACE_MS, "late", { signal: timer.signal }).catch(() => "in time");
  if ((await Promise.race([exited, late])) === "late") child.kill("SIGKILL");
  timer.abort();
  await exited;
}

const hasEnded = (child: ChildProcess): boolean => child.exitCode !== null || child.signalCode !== null;
