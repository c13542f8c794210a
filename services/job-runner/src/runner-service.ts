import type { ServiceOptions } from "@sluice/stage-runtime";
import type { RunnerConfig } from "./config.ts";
import { makeRunner, type RunnerHost } from "./runner.ts";

export const runnerService = (config: RunnerConfig, host: RunnerHost): ServiceOptions => ({
  service: "job-runner",
  config,
  duties: [],
  extraServers: (parts) => [makeRunner(config, parts, host)],
});
