import { ACCESS_FIELDS, ACCESS_RELATIONS } from "@sluice/access";
import { HTTP_FIELDS } from "@sluice/http-api";
import type { Stage } from "@sluice/queue-core";
import {
  baseConfig,
  type Environment,
  parseConfig,
  parsedText,
  port,
  type Relation,
  wholeNumber,
} from "@sluice/stage-runtime";
import { STAGE_LIMITS } from "@sluice/wire";
import { z } from "zod";
import { REMOTE_STAGES } from "./stages.ts";

const unsetIfEmpty = z
  .string()
  .optional()
  .transform((raw) => (raw === "" ? undefined : raw));

export const stageApiConfig = baseConfig.extend({
  METRICS_PORT: port().default(9_411),
  PORT: port().default(8_083),
  HOST: z.string().default("127.0.0.1"),
  ...ACCESS_FIELDS,
  ...HTTP_FIELDS,
  /** One program makes several calls for each job. */
  CALLS_PER_MINUTE: wholeNumber({ min: 1, max: 10_000_000 }).default(60_000),
  /** Whose jobs can be taken here, with spaces between them. */
  STAGES: parsedText(parseStages, `stages out of ${REMOTE_STAGES.join(", ")}`).prefault("recorder"),
  /** How long a claim lasts without a call, where its taker does not say. */
  LEASE_MS: wholeNumber({ min: STAGE_LIMITS.leaseMs.least, max: STAGE_LIMITS.leaseMs.most }).default(60_000),
  /** Jobs in the hands of one worker, at most. */
  CLAIMS_PER_WORKER: wholeNumber({ min: 1, max: 1_000 }).default(100),
  /** Workers that this process claims for, at most. */
  WORKERS_MAX: wholeNumber({ min: 1, max: 10_000 }).default(200),
  /** A worker that holds nothing and asks for nothing so long is no longer registered. */
  WORKER_IDLE_MS: wholeNumber({ min: 1_000, max: 3_600_000 }).default(30_000),
  /** The name under which the other stage-apis reach this one, where HOST is none. */
  ADVERTISE_HOST: unsetIfEmpty,
});
export type StageApiConfig = Readonly<z.infer<typeof stageApiConfig>>;

function parseStages(text: string): readonly Stage[] | null {
  const names = text.split(/[\s,]+/).filter((name) => name !== "");
  const stages = REMOTE_STAGES.filter((stage) => names.includes(stage));
  return names.length > 0 && names.every((name) => stages.some((stage) => stage === name)) ? stages : null;
}

const RELATIONS: readonly Relation[] = [...ACCESS_RELATIONS];

export const loadConfig = (env: Environment): StageApiConfig =>
  parseConfig("stage-api", stageApiConfig, env, RELATIONS);
