/** What the registry says about the machine. */
import { cpus, freemem, networkInterfaces, totalmem } from "node:os";

export interface MachineStats {
  readonly Cpu: number;
  readonly Mem: number;
}

const percent = (part: number, whole: number): number =>
  whole <= 0 ? 0 : Math.min(100, Math.max(0, Math.round((1000 * part) / whole) / 10));

/** Since the last call. */
export function machineStats(): () => MachineStats {
  let before = processorTimes();
  return () => {
    const now = processorTimes();
    const Cpu = percent(now.busy - before.busy, now.all - before.all);
    before = now;
    return { Cpu, Mem: percent(totalmem() - freemem(), totalmem()) };
  };
}

function processorTimes(): { readonly busy: number; readonly all: number } {
  let busy = 0;
  let all = 0;
  for (const { times } of cpus()) {
    const total = times.user + times.nice + times.sys + times.idle + times.irq;
    all += total;
    busy += total - times.idle;
  }
  return { busy, all };
}

/** The first address that others may reach; "" on a machine without any. */
export function privateAddress(): string {
  const all = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
  return all.find(({ family, internal }) => family === "IPv4" && !internal)?.address ?? "";
}
