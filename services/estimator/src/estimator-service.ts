/** The service as its duties, from its settings. */
import { createEgress, openCredentials, policyOf } from "@sluice/safe-io";
import { makeLog, type ServiceOptions, stampedFolder } from "@sluice/stage-runtime";
import { openWorkingFolder } from "@sluice/working-folder";
import type { EstimatorConfig } from "./config.ts";
import { estimatingStage } from "./estimate.ts";
import { filesOfJob } from "./files-of-job.ts";
import { headSize } from "./head-size.ts";
import { HostLimits } from "./host-limits.ts";
import { sizeOfFile } from "./size-of-file.ts";

export async function estimatorService(config: EstimatorConfig): Promise<ServiceOptions> {
  const log = makeLog("estimator", config.LOG_LEVEL);
  const folder = await openWorkingFolder(config.WORKING_DIR);
  const limits = new HostLimits({ perHost: config.HEAD_PER_HOST, perProcess: config.HEAD_PER_PROCESS });
  const egress = createEgress({
    policy: policyOf(config),
    credentials: await openCredentials(config.DOWNLOAD_AUTH_FILE, (problem) => log.warn({ problem }, "credentials")),
    connectionsPerHost: config.HEAD_PER_HOST,
  });

  return {
    service: "estimator",
    config,
    duties: [
      estimatingStage({
        files: (job) => filesOfJob(job, folder),
        sizeOf: sizeOfFile(folder, headSize(egress, limits, config.HEAD_TIMEOUT_MS)),
        budget: () => AbortSignal.timeout(config.ESTIMATE_BUDGET_MS),
        filesAtOnce: config.HEAD_PER_PROCESS,
        largeJobBytes: config.LARGE_JOB_BYTES,
        containerFactor: config.CONTAINER_SPACE_FACTOR,
      }),
    ],
    stamped: () => [stampedFolder({ name: "the working folder", folder: config.WORKING_DIR, writes: false })],
    close: () => egress.close(),
  };
}
