import { carryContext, type RecorderOptions, startRecorder } from "@sluice/tracing";
import { systemClock } from "@sluice/zookeeper";
import { noProbe } from "../engine/probes.ts";
import { makeLog } from "../log.ts";
import type { ServiceOptions } from "./options.ts";
import { Service } from "./service.ts";

/** A terminal's Ctrl-C reaches a service both directly and through its supervisor: that is one bell, not two. */
const SAME_BELL_MS = 300;

/** Runs a service as this process: signals are its bells, and its end is the process's. */
export async function runService(options: ServiceOptions): Promise<never> {
  const log = makeLog(options.service, options.config.LOG_LEVEL);
  carryContext();
  const recorder = await startRecorder(recorderOptions(options));
  const service = new Service(options, { clock: systemClock, random: Math.random, log, probe: noProbe });
  const ring = oncePer(SAME_BELL_MS, () => service.ring());
  for (const bell of ["SIGTERM", "SIGINT"] as const) process.on(bell, ring);
  process.on("uncaughtException", (error) => service.fail(error, "uncaught exception"));
  process.on("unhandledRejection", (error) => service.fail(error, "unhandled rejection"));
  const code = await service.run();
  await recorder.stop();
  process.exit(code);
}

function recorderOptions({ service, config }: ServiceOptions): RecorderOptions | null {
  const { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, OTEL_TRACES_SAMPLER_ARG: ratio } = config;
  if (endpoint === "") return null;
  return { endpoint, ratio, service, version: config.SLUICE_VERSION, worker: config.WORKER_ID };
}

function oncePer(ms: number, act: () => void): () => void {
  let actedAtMs = -Infinity;
  return () => {
    const nowMs = systemClock.monotonicMs();
    if (nowMs - actedAtMs < ms) return;
    actedAtMs = nowMs;
    act();
  };
}
