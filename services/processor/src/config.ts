import { baseConfig, type Environment, parseConfig, parsedText, port, wholeNumber } from "@sluice/stage-runtime";
import { z } from "zod";
import { parseShoulder } from "./minter/noid-minter.ts";
import { parseStorageUrl } from "./store/open-store.ts";

export const processorConfig = baseConfig.extend({
  STAGE_CONCURRENCY: wholeNumber({ min: 1, max: 1_000 }).default(2),
  METRICS_PORT: port().default(9_404),
  WORKING_DIR: z.string().default("./data/queue"),
  PROFILES_DIR: z.string().default("./data/profiles"),
  STORAGE_URL: parsedText(parseStorageUrl, "ocfl:FOLDER").prefault("ocfl:./data/store"),
  /** Where profiles name no minter of their own: NAAN/SHOULDER. */
  MINT_SHOULDER: parsedText(parseShoulder, "NAAN/SHOULDER, as in 99999/fk4").prefault("99999/fk4"),
  /** When a job is tried again whose object another job is working on. */
  OBJECT_BUSY_WAIT_MS: wholeNumber({ min: 1, max: 3_600_000 }).default(2_000),
  /** When a job is tried again that found the working volume full. */
  DISK_FULL_WAIT_MS: wholeNumber({ min: 1, max: 86_400_000 }).default(60_000),
});
export type ProcessorConfig = Readonly<z.infer<typeof processorConfig>>;

export const loadConfig = (env: Environment): ProcessorConfig => parseConfig("processor", processorConfig, env);
