import { parseStorageUrl, STORAGE_URL_FORMS } from "@sluice/ingest-formats";
import { INVENTORY_URL_FORMS, parseInventoryUrl } from "@sluice/inventory";
import {
  baseConfig,
  egressSettings,
  type Environment,
  parseConfig,
  parsedText,
  port,
  wholeNumber,
} from "@sluice/stage-runtime";
import { z } from "zod";

export const recorderConfig = baseConfig.extend({
  STAGE_CONCURRENCY: wholeNumber({ min: 1, max: 1_000 }).default(8),
  METRICS_PORT: port().default(9_405),
  INVENTORY_URL: parsedText(parseInventoryUrl, INVENTORY_URL_FORMS).prefault("sqlite:./data/inventory.db"),
  /** Where the versions are that are to be recorded; nothing outside of it is read. */
  STORAGE_URL: parsedText(parseStorageUrl, STORAGE_URL_FORMS).prefault("ocfl:./data/store"),
  /** How long one request to a storage service may take. */
  STORE_TIMEOUT_MS: wholeNumber({ min: 100, max: 3_600_000 }).default(60_000),
  ...egressSettings,
  /** When a job is tried again that found the database away. */
  INVENTORY_AWAY_WAIT_MS: wholeNumber({ min: 1, max: 3_600_000 }).default(15_000),
  /** When a job is tried again whose object another job is being recorded for. */
  OBJECT_BUSY_WAIT_MS: wholeNumber({ min: 1, max: 3_600_000 }).default(1_000),
});
export type RecorderConfig = Readonly<z.infer<typeof recorderConfig>>;

export const loadConfig = (env: Environment): RecorderConfig => parseConfig("recorder", recorderConfig, env);
