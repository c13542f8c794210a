/** Which of the limits that are asked for an engine can hold a container to. It takes all of them, and forgets those it has no means for. */

export const ENGINE_LIMITS = ["memory", "swap", "cpus", "pids", "seccomp"] as const;
export type EngineLimit = (typeof ENGINE_LIMITS)[number];
export type EngineLimits = Readonly<Record<EngineLimit, boolean>>;

/** Of what `docker info` says. */
export interface EngineInfo {
  readonly MemoryLimit?: boolean;
  readonly SwapLimit?: boolean;
  readonly CpuCfsPeriod?: boolean;
  readonly CpuCfsQuota?: boolean;
  readonly PidsLimit?: boolean;
  /** `name=seccomp,profile=default` and others. */
  readonly SecurityOptions?: readonly string[] | null;
}

export function limitsOf(info: EngineInfo): EngineLimits {
  const seccomp = (info.SecurityOptions ?? []).map((text) => text.split(",")).find(([name]) => name === "name=seccomp");
  return {
    memory: info.MemoryLimit === true,
    swap: info.SwapLimit === true,
    cpus: info.CpuCfsPeriod === true && info.CpuCfsQuota === true,
    pids: info.PidsLimit === true,
    seccomp: seccomp !== undefined && !seccomp.includes("profile=unconfined"),
  };
}
