import { baseConfig, egressSettings, type Environment, parseConfig, port, wholeNumber } from "@sluice/stage-runtime";
import { z } from "zod";

export const notifierConfig = baseConfig.extend({
  STAGE_CONCURRENCY: wholeNumber({ min: 1, max: 1_000 }).default(16),
  METRICS_PORT: port().default(9_406),
  PROFILES_DIR: z.string().default("./data/profiles"),
  ...egressSettings,
  /** Where objects are found by their ARK (https://n2t.net/): callbacks then carry a persistentURL. */
  PERSISTENT_URL_BASE: z
    .url({ protocol: /^https?$/, error: "must be an http or https URL that ends with a slash" })
    .endsWith("/", "must end with a slash")
    .optional(),
  /** How long one callback may take, from connecting to the end of the answer. */
  CALLBACK_TIMEOUT_MS: wholeNumber({ min: 100, max: 600_000 }).default(30_000),
  /** How long a receiver that is away is tried with the news that a job failed. */
  FAILED_CALLBACK_GIVE_UP_MS: wholeNumber({ min: 0 }).default(3_600_000),
});
export type NotifierConfig = Readonly<z.infer<typeof notifierConfig>>;

export const loadConfig = (env: Environment): NotifierConfig => parseConfig("notifier", notifierConfig, env);
