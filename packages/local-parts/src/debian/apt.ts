import { existsSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import type { Log } from "../log.ts";
import { type CommandResult, lastLine, runCommand } from "../run-command.ts";

const APT = "/usr/bin/apt-get";
/** Another process installs something just now: apt waits for dpkg's own lock, but not for those of its lists and downloads. */
const LOCKED = /could not get lock|unable to lock/iu;
const LOOK_AGAIN_MS = 500;

export type AptResult = { readonly ok: true } | { readonly ok: false; readonly reason: string };

/** Why this process cannot install Debian packages; null when it can. */
export function whyNotApt(): string | null {
  if (!existsSync(APT)) return "no apt-get on this machine";
  return process.getuid?.() === 0 ? null : "not root, so no package can be installed";
}

/**
 * Downloads first and under the caller's time limit, installs afterwards without one: a download may be cut off at any
 * point, but a dpkg killed in mid-work leaves the machine broken.
 */
export async function aptInstall(packages: readonly string[], log: Log, signal: AbortSignal): Promise<AptResult> {
  const refusal = whyNotApt();
  if (refusal !== null) return { ok: false, reason: refusal };
  log(`installing Debian's ${packages.join(", ")} with apt-get`);
  const install = ["install", "-y", "--no-install-recommends"];
  const download = () => apt([...install, "--download-only", ...packages], signal);

  let result = await download();
  if (!result.ok && !signal.aborted) {
    // Fresh images come without package lists.
    await apt(["update"], signal);
    result = await download();
  }
  if (result.ok) result = await apt([...install, ...packages]);
  return result.ok ? { ok: true } : { ok: false, reason: `apt-get failed: ${lastLine(result.output)}` };
}

/** Where another process holds a lock of apt, it is waited for. */
async function apt(args: readonly string[], signal?: AbortSignal): Promise<CommandResult> {
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  const options = signal === undefined ? { env } : { env, signal };
  for (;;) {
    const result = await runCommand(APT, ["-o", "DPkg::Lock::Timeout=-1", ...args], options);
    if (result.ok || signal?.aborted === true || !LOCKED.test(result.output)) return result;
    await sleep(LOOK_AGAIN_MS);
  }
}
