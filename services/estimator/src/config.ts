import { credentialsProblem } from "@sluice/safe-io";
import {
  baseConfig,
  checkedText,
  egressSettings,
  type Environment,
  parseConfig,
  port,
  type Relation,
  wholeNumber,
} from "@sluice/stage-runtime";
import { z } from "zod";

export const estimatorConfig = baseConfig.extend({
  STAGE_CONCURRENCY: wholeNumber({ min: 1, max: 1_000 }).default(16),
  METRICS_PORT: port().default(9_401),
  WORKING_DIR: z.string().default("./data/queue"),
  ...egressSettings,
  /** User names and passwords by host, a secret file. */
  DOWNLOAD_AUTH_FILE: checkedText(credentialsProblem).optional(),
  HEAD_PER_HOST: wholeNumber({ min: 1, max: 1_000 }).default(4),
  HEAD_PER_PROCESS: wholeNumber({ min: 1, max: 10_000 }).default(64),
  HEAD_TIMEOUT_MS: wholeNumber({ min: 1, max: 600_000 }).default(15_000),
  /** How long the files of one job are asked for; what is unknown then stays unknown. */
  ESTIMATE_BUDGET_MS: wholeNumber({ min: 1, max: 86_400_000 }).default(600_000),
  /** Jobs above this size step back in the queue. */
  LARGE_JOB_BYTES: wholeNumber({ min: 1 }).default(100_000_000_000),
  /** What a container needs, as a multiple of its size: itself, and its content beside it. */
  CONTAINER_SPACE_FACTOR: wholeNumber({ min: 1, max: 1_000 }).default(3),
});
export type EstimatorConfig = Readonly<z.infer<typeof estimatorConfig>>;

export const ESTIMATOR_RELATIONS: readonly Relation[] = [
  {
    path: "HEAD_PER_HOST",
    needs: ["HEAD_PER_HOST", "HEAD_PER_PROCESS"],
    holds: (values) => Number(values["HEAD_PER_HOST"]) <= Number(values["HEAD_PER_PROCESS"]),
    message: "must not be above HEAD_PER_PROCESS",
  },
];

export const loadConfig = (env: Environment): EstimatorConfig =>
  parseConfig("estimator", estimatorConfig, env, ESTIMATOR_RELATIONS);
