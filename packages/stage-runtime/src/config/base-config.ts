/** The settings that every service has. A service's own `config.ts` extends this object. */
import { randomBytes } from "node:crypto";
import { hostname } from "node:os";
import { ZOOKEEPER_FIELDS, ZOOKEEPER_RELATIONS } from "@sluice/zookeeper";
import { z } from "zod";
import { failpointsProblem } from "../engine/failpoint-rules.ts";
import { checkedText, port, ratio, wholeNumber, zookeeperConnect } from "./fields.ts";
import type { Relation } from "./relations.ts";

/** Becomes a znode's name, a label and part of a log line: only what is safe in all of them. */
const WORKER_ID = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;
/** In a container every process is number 1, and containers on a host's network share its name: chance tells them apart. */
const defaultWorkerId = (): string =>
  `${hostname()
    .replaceAll(/[^A-Za-z0-9.-]/g, "-")
    .slice(0, 40)}-${process.pid}-${randomBytes(2).toString("hex")}`;

function endpointProblem(raw: string): string | null {
  if (raw === "") return null;
  const url = URL.canParse(raw) ? new URL(raw) : null;
  const isGood = url !== null && /^https?:$/.test(url.protocol) && url.username === "" && url.search === "";
  return isGood ? null : "must be an address like http://collector:4318, without a password in it";
}

export const baseConfig = z.object({
  ZOOKEEPER_CONNECT: zookeeperConnect(),
  ...ZOOKEEPER_FIELDS,
  ZK_SESSION_TIMEOUT_MS: wholeNumber({ min: 1_000, max: 300_000 }).default(10_000),
  /** Gives up (exit code 69) when there was no ZooKeeper for so long after the start; 0 = waits for ever. */
  ZK_GIVE_UP_MS: wholeNumber().default(0),
  STAGE_CONCURRENCY: wholeNumber({ min: 1, max: 1_000 }).default(4),
  /** How soon the queue is looked at again while something waits in it; a lost watch costs this much. */
  POLL_INTERVAL_MS: wholeNumber({ min: 50, max: 60_000 }).default(2_000),
  /** The same for an empty queue. */
  IDLE_POLL_INTERVAL_MS: wholeNumber({ min: 50, max: 600_000 }).default(30_000),
  ATTEMPTS_MAX: wholeNumber({ min: 1, max: 100 }).default(5),
  SHUTDOWN_GRACE_MS: wholeNumber({ min: 1, max: 14_400_000 }).default(25_000),
  /** 0 = any free port. */
  METRICS_PORT: port().default(9_400),
  METRICS_HOST: z.string().default("127.0.0.1"),
  LOG_LEVEL: z
    .enum(["trace", "debug", "info", "warn", "error", "fatal", "silent"], {
      error: "must be one of trace, debug, info, warn, error, fatal, silent",
    })
    .default("info"),
  WORKER_ID: z
    .string()
    .regex(WORKER_ID, "must be 1 to 64 letters, digits, dots, dashes or underscores")
    .default(defaultWorkerId),
  /** Tests only: `estimator.afterClaim=kill;recorder.beforeCommit=sleep(200)@0.5#3`. */
  FAILPOINTS: checkedText(failpointsProblem).default(""),
  /** Where spans are sent, over OTLP/HTTP: http://collector:4318. Empty = no traces. */
  OTEL_EXPORTER_OTLP_ENDPOINT: checkedText(endpointProblem).default(""),
  /** The part of new traces that is recorded. */
  OTEL_TRACES_SAMPLER_ARG: ratio().default(1),
  SLUICE_VERSION: z.string().default("0.1.0"),
  SLUICE_COMMIT: z.string().default("unknown"),
});

export type BaseConfig = Readonly<z.infer<typeof baseConfig>>;

export const BASE_RELATIONS: readonly Relation[] = [
  ...ZOOKEEPER_RELATIONS,
  {
    path: "IDLE_POLL_INTERVAL_MS",
    needs: ["POLL_INTERVAL_MS", "IDLE_POLL_INTERVAL_MS"],
    holds: (c) => Number(c["IDLE_POLL_INTERVAL_MS"]) >= Number(c["POLL_INTERVAL_MS"]),
    message: "must not be below POLL_INTERVAL_MS",
  },
  {
    path: "ZK_GIVE_UP_MS",
    needs: ["ZK_GIVE_UP_MS", "ZK_SESSION_TIMEOUT_MS"],
    holds: (c) => c["ZK_GIVE_UP_MS"] === 0 || Number(c["ZK_GIVE_UP_MS"]) >= Number(c["ZK_SESSION_TIMEOUT_MS"]),
    message: "must be 0 or at least ZK_SESSION_TIMEOUT_MS",
  },
  {
    path: "METRICS_PORT",
    needs: ["METRICS_PORT", "PORT"],
    holds: (c) => c["METRICS_PORT"] === 0 || c["METRICS_PORT"] !== c["PORT"],
    message: "must not be the same as PORT",
  },
];
