import { systemClock } from "@sluice/zookeeper";
import { noProbe } from "../engine/probes.ts";
import { makeLog } from "../log.ts";
import type { ServiceOptions } from "./options.ts";
import { Service } from "./service.ts";

/** Runs a service as this process: signals are its bells, and its end is the process's. */
export async function runService(options: ServiceOptions): Promise<never> {
  const log = makeLog(options.service, options.config.LOG_LEVEL);
  const service = new Service(options, { clock: systemClock, random: Math.random, log, probe: noProbe });
  for (const bell of ["SIGTERM", "SIGINT"] as const) process.on(bell, () => service.ring());
  process.on("uncaughtException", (error) => service.fail(error, "uncaught exception"));
  process.on("unhandledRejection", (error) => service.fail(error, "unhandled rejection"));
  process.exit(await service.run());
}
