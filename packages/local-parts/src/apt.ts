import { existsSync } from "node:fs";
import type { Log } from "./log.ts";
import { lastLine, runCommand } from "./run-command.ts";

const APT = "/usr/bin/apt-get";

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
export async function aptInstall(packageName: string, log: Log, signal: AbortSignal): Promise<AptResult> {
  const refusal = whyNotApt();
  if (refusal !== null) return { ok: false, reason: refusal };
  log(`installing Debian's package ${packageName} with apt-get`);
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  const install = ["install", "-y", "--no-install-recommends"];
  const download = () => runCommand(APT, [...install, "--download-only", packageName], { env, signal });

  let result = await download();
  if (!result.ok && !signal.aborted) {
    // Fresh images come without package lists.
    await runCommand(APT, ["update"], { env, signal });
    result = await download();
  }
  if (result.ok) result = await runCommand(APT, [...install, packageName], { env });
  return result.ok ? { ok: true } : { ok: false, reason: `apt-get failed: ${lastLine(result.output)}` };
}
