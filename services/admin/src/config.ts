import { baseConfig, type Environment, parseConfig, port, wholeNumber } from "@sluice/stage-runtime";
import { z } from "zod";

export const adminConfig = baseConfig.extend({
  METRICS_PORT: port().default(9_408),
  PORT: port().default(8_081),
  /** Loopback until there is authentication. */
  HOST: z.string().default("127.0.0.1"),
  /** However many scrape and look, ZooKeeper is asked at most this often. */
  SURVEY_MAX_AGE_MS: wholeNumber({ max: 60_000 }).default(2_000),
});
export type AdminConfig = Readonly<z.infer<typeof adminConfig>>;

export const loadConfig = (env: Environment): AdminConfig => parseConfig("admin", adminConfig, env);
