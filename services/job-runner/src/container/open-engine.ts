/** The engine of a runner: made from its settings, asked for its limits once it answers, swept from time to time. */
import type { Log } from "@sluice/stage-runtime";
import type { RunnerConfig } from "../config.ts";
import { type Engine, openEngine } from "./engine.ts";
import { ENGINE_LIMITS, type EngineLimits } from "./engine-limits.ts";

const MIB = 1_048_576;

export const engineOf = (config: RunnerConfig, nowMs: () => number): Engine | null =>
  config.DOCKER_HOST === undefined
    ? null
    : openEngine(
        {
          host: config.DOCKER_HOST,
          network: config.CONTAINER_NETWORK,
          user: config.CONTAINER_USER,
          memoryMb: config.CONTAINER_MEMORY_MB,
          cpus: config.CONTAINER_CPUS,
          pids: config.CONTAINER_PIDS,
          tmpMb: config.CONTAINER_TMP_MB,
          fileBytes: config.CONTAINER_DISK_MB * MIB,
          imageBytes: config.CONTAINER_IMAGE_MAX_MB * MIB,
          imageKeepMs: config.CONTAINER_IMAGE_KEEP_MS,
          pullMs: config.CONTAINER_TIMEOUT_MS,
        },
        nowMs,
      );

export interface EngineWatch {
  /** Says which limits it has, when it answers for the first time. */
  look(): Promise<void>;
  sweep(isLeftBehind: Parameters<Engine["sweep"]>[0]): Promise<void>;
}

export function watchEngine(engine: Engine, log: Log, onLimits: (limits: EngineLimits) => void): EngineWatch {
  let answered: boolean | null = null;
  const look = async (): Promise<void> => {
    if (answered === true) return;
    try {
      const limits = await engine.limits();
      answered = true;
      onLimits(limits);
      const missing = ENGINE_LIMITS.filter((limit) => !limits[limit]);
      if (missing.length === 0) log.info({ limits: ENGINE_LIMITS }, "the Docker engine has all limits for containers");
      else log.warn({ missing }, "the Docker engine lacks limits: containers run without them");
    } catch (error) {
      // Once: jobs say it as well, each time.
      if (answered === null) log.warn({ err: error }, "the Docker engine does not answer: container jobs wait");
      answered = false;
    }
  };
  return {
    look,
    async sweep(isLeftBehind) {
      await look();
      if (answered !== true) return;
      try {
        const { containers, images } = await engine.sweep(isLeftBehind);
        if (containers > 0) log.info({ removed: containers }, "containers of dead workers removed");
        if (images > 0) log.info({ removed: images }, "images that nobody uses any more removed");
      } catch (error) {
        log.warn({ err: error }, "containers could not be looked through");
      }
    },
  };
}
