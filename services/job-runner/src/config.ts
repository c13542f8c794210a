import {
  baseConfig,
  egressSettings,
  type Environment,
  flag,
  parseConfig,
  port,
  serviceUrl,
  serviceUrls,
  wholeNumber,
} from "@sluice/stage-runtime";
import { z } from "zod";
import { type AllowedImage, parseAllowed } from "./container/image-reference.ts";
import { USER } from "./container/spec.ts";
import { interpreterList } from "./sandbox/interpreter-settings.ts";

const HOUR_MS = 3_600_000;
const names = () =>
  z
    .string()
    .transform((text) => text.split(",").map((name) => name.trim()))
    .pipe(z.array(z.string().min(1)).min(1))
    .optional();

function allowedEntry(text: string, context: z.RefinementCtx): AllowedImage {
  const entry = parseAllowed(text);
  if (entry !== null) return entry;
  context.addIssue({
    code: "custom",
    message: `${JSON.stringify(text)} names no image: write registry.example/team/tool, with :tag or @sha256:digest, or registry.example/team/*`,
  });
  return z.NEVER;
}

export const runnerConfig = baseConfig.extend({
  /** Jobs in hand at once. */
  STAGE_CONCURRENCY: wholeNumber({ min: 1, max: 100 }).default(16),
  METRICS_PORT: port().default(9_410),
  ...egressSettings,
  /** Where a job-api listens. */
  JOB_API_URL: serviceUrl().default("http://127.0.0.1:8082"),
  /** Several, with commas, instead of JOB_API_URL: when one does not answer, another one is asked. */
  JOB_API_URLS: serviceUrls().optional(),
  /** May use jobs of the tenants it runs, and act on workers; or the file that holds it, read again when it changes. */
  JOB_API_TOKEN: z.string().optional(),
  JOB_API_TOKEN_FILE: z.string().optional(),
  /** Only these tenants' jobs, and only these types (patterns); all if not said. */
  JOB_TENANTS: names(),
  JOB_TYPES: names(),
  RETRY_DELAY_MS: wholeNumber().default(60_000),
  /** A job that did not end well is abandoned so long after its first try; handlers may say otherwise. */
  RETRY_MAX_AGE_MS: wholeNumber({ min: 1 }).default(6 * HOUR_MS),
  HTTP_TIMEOUT_MS: wholeNumber({ min: 100 }).default(120_000),
  /** walled: tenants' code runs only where namespaces can be had; weak: in any case; off: not here. */
  NODE_HANDLERS: z.enum(["walled", "weak", "off"], { error: "must be walled, weak or off" }).default("walled"),
  NODE_TIMEOUT_MS: wholeNumber({ min: 100 }).default(120_000),
  /** Of a processor, for one job. */
  NODE_CPU_MS: wholeNumber({ min: 100 }).default(60_000),
  /** The most that a handler can ask for. */
  NODE_MEMORY_MB: wholeNumber({ min: 32, max: 65_536 }).default(256),
  NODE_CONTEXT_JOBS: wholeNumber({ min: 1 }).default(100),
  NODE_CONTEXT_IDLE_MS: wholeNumber({ min: 1 }).default(60_000),
  /** Whom tenants' code runs as when we are root. */
  NODE_UID: wholeNumber({ min: 1 }).default(65_534),
  /** Languages of handlers besides node: php, or lua=/usr/bin/lua5.4:/usr/share/lua. */
  INTERPRETERS: interpreterList().default([]),
  /** Files that handlers may declare: a folder for each tenant. */
  NODE_FILES_DIR: z.string().optional(),
  /** Where container jobs run: unix:///var/run/docker.sock or http://host:port; without it, nowhere. */
  DOCKER_HOST: z
    .string()
    .regex(/^(?:unix:\/\/\/|https?:\/\/)\S+$/, "must be unix:///path or http://host:port")
    .optional(),
  CONTAINER_TIMEOUT_MS: wholeNumber({ min: 100 }).default(HOUR_MS),
  CONTAINER_NETWORK: z
    .string()
    .regex(/^[A-Za-z0-9][A-Za-z0-9_.-]*$/, "must be the name of a network")
    .refine((name) => name !== "host", "must not be host: containers would reach all that this machine can reach")
    .default("none"),
  /** Whom containers run as when their job does not say: numbers, and not root. */
  CONTAINER_USER: z
    .string()
    .regex(USER, "must be numbers of a user and a group that are not root: 65534:65534")
    .default("65534:65534"),
  CONTAINER_MEMORY_MB: wholeNumber({ min: 16 }).default(1_024),
  CONTAINER_CPUS: wholeNumber({ min: 1 }).default(1),
  CONTAINER_PIDS: wholeNumber({ min: 1 }).default(256),
  /** Of /tmp, /dev/shm and each volume that an image declares. */
  CONTAINER_TMP_MB: wholeNumber({ min: 1 }).default(64),
  /** What a container may write into its working folder. */
  CONTAINER_DISK_MB: wholeNumber({ min: 1 }).default(2_048),
  /** Images that jobs may use, with commas; `registry.example/team/*`: all below. Without it, none. */
  CONTAINER_IMAGES: z
    .string()
    .transform((text) => text.split(",").map((name) => name.trim()))
    .pipe(z.array(z.string().transform(allowedEntry)))
    .optional(),
  /** Of an image that is fetched. */
  CONTAINER_IMAGE_MAX_MB: wholeNumber({ min: 1 }).default(4_096),
  /** One that this runner has fetched is removed when no job has used it for so long. */
  CONTAINER_IMAGE_KEEP_MS: wholeNumber().default(600_000),
  /** Of a container's input, and of its output. */
  FILESET_MAX_BYTES: wholeNumber({ min: 1 }).default(1_073_741_824),
  FILESET_MAX_FILES: wholeNumber({ min: 1 }).default(10_000),
  /** A folder, file:// or http(s)://. */
  FILESET_URL: z.string().default("./data/filesets"),
  HEARTBEAT_MS: wholeNumber({ min: 100 }).default(10_000),
  /** A heartbeat that is older belongs to a dead worker. */
  HEARTBEAT_TIMEOUT_MS: wholeNumber({ min: 500 }).default(60_000),
  /** On average. */
  HARVEST_INTERVAL_MS: wholeNumber({ min: 100 }).default(30_000),
  /** How long entries of dead workers can be seen. */
  DEAD_WORKER_KEEP_MS: wholeNumber().default(24 * HOUR_MS),
  /** Told by POST of a worker that was declared dead, so that its instance can be shut down or restarted. */
  DEAD_WORKER_HOOK: z.url({ protocol: /^https?$/, error: "must be an http or https URL" }).optional(),
  PUBLIC_IP: z.string().default(""),
  /** The fleet's own jobs: makes their schedules, and runs them with ADMIN_URL and INTAKE_URL. */
  SYSTEM_SCHEDULES: flag().default(false),
  ADMIN_URL: serviceUrl().optional(),
  INTAKE_URL: serviceUrl().optional(),
  /** For both; or the file that holds it, read again when it changes. */
  ADMIN_TOKEN: z.string().optional(),
  ADMIN_TOKEN_FILE: z.string().optional(),
  SNAPSHOTS_DIR: z.string().default("./data/snapshots"),
  REPORTS_DIR: z.string().default("./data/reports"),
});
export type RunnerConfig = Readonly<z.infer<typeof runnerConfig>>;

export const loadConfig = (env: Environment): RunnerConfig => parseConfig("job-runner", runnerConfig, env);
