/** One stage in this process, with a handler that does nothing: what the queue itself costs. */
import { baseConfig, done, type JobStage, Service, silentLog } from "@sluice/stage-runtime";
import { systemClock } from "@sluice/zookeeper";

export interface StageRun {
  readonly jobsPerSecond: number;
  /** From the start of one claim window to the settling of its jobs. */
  readonly seconds: number;
}

export async function runEmptyStage(connect: string, jobs: number, concurrency: number): Promise<StageRun> {
  const duty: JobStage = { kind: "job-stage", takes: "Pending", handle: () => Promise.resolve(done()) };
  const config = baseConfig.parse({
    ZOOKEEPER_CONNECT: connect,
    METRICS_PORT: "0",
    STAGE_CONCURRENCY: String(concurrency),
    WORKER_ID: `bench-${concurrency}`,
  });
  let settled = 0;
  let firstMs = 0;
  let finish: (ms: number) => void = () => undefined;
  const finished = new Promise<number>((resolve) => (finish = resolve));
  const service = new Service(
    { service: "batch-intake", config, duties: [duty] },
    {
      clock: systemClock,
      random: Math.random,
      log: silentLog(),
      probe: ({ kind }) => {
        if (kind === "claimed" && firstMs === 0) firstMs = performance.now();
        if (kind === "settled" && ++settled === jobs) finish(performance.now());
      },
    },
  );
  const code = service.run();
  const seconds = ((await finished) - firstMs) / 1000;
  service.ring();
  await code;
  return { jobsPerSecond: Math.round(jobs / seconds), seconds };
}
