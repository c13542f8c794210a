import { credentialsProblem } from "@sluice/safe-io";
import {
  baseConfig,
  checkedText,
  egressSettings,
  type Environment,
  parseConfig,
  port,
  ratio,
  wholeNumber,
} from "@sluice/stage-runtime";
import { z } from "zod";

export const downloaderConfig = baseConfig.extend({
  METRICS_PORT: port().default(9_403),
  WORKING_DIR: z.string().default("./data/queue"),
  ...egressSettings,
  /** User names and passwords by host, a secret file. */
  DOWNLOAD_AUTH_FILE: checkedText(credentialsProblem).optional(),
  /** Files of one job fetched at once; times STAGE_CONCURRENCY for the process. */
  FILES_AT_ONCE: wholeNumber({ min: 1, max: 1_000 }).default(4),
  CONNECTIONS_PER_HOST: wholeNumber({ min: 1, max: 1_000 }).default(8),
  /** Tries for one file before the whole job is tried again later. */
  DOWNLOAD_TRIES: wholeNumber({ min: 1, max: 20 }).default(4),
  /** The longest silence of a host, before its answer and within. */
  DOWNLOAD_IDLE_TIMEOUT_MS: wholeNumber({ min: 1, max: 3_600_000 }).default(30_000),
  /** How long one try for one file may take. */
  DOWNLOAD_TIMEOUT_MS: wholeNumber({ min: 1, max: 604_800_000 }).default(14_400_000),
  FILE_MAX_BYTES: wholeNumber({ min: 1 }).default(4_000_000_000_000),
  /** A file of undeclared size is cut off at so many times its job's estimate, but not below the floor. */
  OVERRUN_FACTOR: wholeNumber({ min: 1, max: 1_000 }).default(10),
  OVERRUN_FLOOR_BYTES: wholeNumber({ min: 1 }).default(100_000_000),
  /** The provisioner's: what was promised no room grows only while the volume is used up to this share. */
  SPACE_LIMIT: ratio().default(0.8),
  /** What a container may hold. */
  UNPACK_MAX_ENTRIES: wholeNumber({ min: 1 }).default(500_000),
  /** Folders above a file in it. */
  UNPACK_MAX_DEPTH: wholeNumber({ min: 1, max: 1_000 }).default(100),
  /** Folders that must be made for it, more than it has files. */
  UNPACK_MAX_FOLDERS_BEYOND_FILES: wholeNumber({ min: 0 }).default(10_000),
  /** For unpacking one; a large container has more, at 5 MB of it a second. */
  UNPACK_TIMEOUT_MS: wholeNumber({ min: 1, max: 604_800_000 }).default(3_600_000),
  UNPACK_MAX_BYTES: wholeNumber({ min: 1 }).default(4_000_000_000_000),
  /** How many times larger than the container its content may be, above the floor. */
  UNPACK_MAX_RATIO: wholeNumber({ min: 1 }).default(200),
  UNPACK_RATIO_FLOOR_BYTES: wholeNumber({ min: 1 }).default(100_000_000),
  /** When a job is tried again that found the working volume full. */
  DISK_FULL_WAIT_MS: wholeNumber({ min: 1, max: 86_400_000 }).default(60_000),
});
export type DownloaderConfig = Readonly<z.infer<typeof downloaderConfig>>;

export const loadConfig = (env: Environment): DownloaderConfig => parseConfig("downloader", downloaderConfig, env);
