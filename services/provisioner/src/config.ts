import {
  baseConfig,
  type Environment,
  parseConfig,
  port,
  ratio,
  type Relation,
  wholeNumber,
} from "@sluice/stage-runtime";
import { z } from "zod";

export const provisionerConfig = baseConfig.extend({
  STAGE_CONCURRENCY: wholeNumber({ min: 1, max: 1_000 }).default(1),
  METRICS_PORT: port().default(9_402),
  WORKING_DIR: z.string().default("./data/queue"),
  /** The share of the volume that may be promised to jobs of known size. */
  SPACE_LIMIT: ratio().default(0.8),
  /** Jobs of unknown size go on only below this share. */
  SPACE_LIMIT_UNKNOWN: ratio().default(0.7),
});
export type ProvisionerConfig = Readonly<z.infer<typeof provisionerConfig>>;

export const PROVISIONER_RELATIONS: readonly Relation[] = [
  {
    path: "SPACE_LIMIT_UNKNOWN",
    needs: ["SPACE_LIMIT_UNKNOWN", "SPACE_LIMIT"],
    holds: (values) => Number(values["SPACE_LIMIT_UNKNOWN"]) <= Number(values["SPACE_LIMIT"]),
    message: "must not be above SPACE_LIMIT",
  },
];

export const loadConfig = (env: Environment): ProvisionerConfig =>
  parseConfig("provisioner", provisionerConfig, env, PROVISIONER_RELATIONS);
