/** The service as its duties, from its settings. */
import { createEgress, downloadTo, openCredentials, policyOf, volumeSpace } from "@sluice/safe-io";
import { makeLog, type ServiceOptions, stampedFolder } from "@sluice/stage-runtime";
import { openWorkingFolder } from "@sluice/working-folder";
import type { DownloaderConfig } from "./config.ts";
import { downloadingStage } from "./download.ts";
import { countFiles } from "./metrics.ts";
import { VolumeGuard } from "./volume-guard.ts";

export async function downloaderService(config: DownloaderConfig): Promise<ServiceOptions> {
  const log = makeLog("downloader", config.LOG_LEVEL);
  const folder = await openWorkingFolder(config.WORKING_DIR);
  const egress = createEgress({
    policy: policyOf(config),
    credentials: await openCredentials(config.DOWNLOAD_AUTH_FILE, (problem) => log.warn({ problem }, "credentials")),
    connectionsPerHost: config.CONNECTIONS_PER_HOST,
    idleTimeoutMs: config.DOWNLOAD_IDLE_TIMEOUT_MS,
    totalTimeoutMs: config.DOWNLOAD_TIMEOUT_MS,
  });

  const guard = new VolumeGuard({
    space: async () => {
      const space = await volumeSpace(folder.root);
      return space.ok ? space.value : null;
    },
    limit: config.SPACE_LIMIT,
    floorBytes: config.OVERRUN_FLOOR_BYTES,
  });

  return {
    service: "downloader",
    config,
    duties: ({ registry }) => [
      downloadingStage({
        folder,
        download: (url, target, name, options) =>
          downloadTo(egress, url, target, name, { ...options, retry: { attempts: config.DOWNLOAD_TRIES } }),
        limits: {
          fileMaxBytes: config.FILE_MAX_BYTES,
          overrunFactor: config.OVERRUN_FACTOR,
          overrunFloorBytes: config.OVERRUN_FLOOR_BYTES,
        },
        archiveLimits: {
          maxEntries: config.UNPACK_MAX_ENTRIES,
          maxDepth: config.UNPACK_MAX_DEPTH,
          maxFoldersBeyondFiles: config.UNPACK_MAX_FOLDERS_BEYOND_FILES,
          maxMs: config.UNPACK_TIMEOUT_MS,
          maxBytes: config.UNPACK_MAX_BYTES,
          maxRatio: config.UNPACK_MAX_RATIO,
          ratioFloorBytes: config.UNPACK_RATIO_FLOOR_BYTES,
        },
        filesAtOnce: config.FILES_AT_ONCE,
        diskFullWaitMs: config.DISK_FULL_WAIT_MS,
        guard,
        onFile: countFiles(registry),
      }),
    ],
    stamped: () => [stampedFolder({ name: "the working folder", folder: config.WORKING_DIR })],
    close: () => egress.close(),
  };
}
