import { ACCESS_FIELDS, ACCESS_RELATIONS } from "@sluice/access";
import { HTTP_FIELDS } from "@sluice/http-api";
import { ERRAND_LIMITS, LOBBY_LIMITS } from "@sluice/job-doors";
import { JOBS_PER_SHARD, JOBS_PER_TENANT, SHARDS } from "@sluice/job-queue";
import {
  baseConfig,
  type Environment,
  flag,
  parseConfig,
  parsedText,
  port,
  type Relation,
  wholeNumber,
} from "@sluice/stage-runtime";
import { isThisMachine, parseConnect } from "@sluice/zookeeper";
import { z } from "zod";

const MB = 1_000_000;
const HOUR_MS = 3_600_000;

const unsetIfEmpty = z
  .string()
  .optional()
  .transform((raw) => (raw === "" ? undefined : raw));

export const jobApiConfig = baseConfig.extend({
  METRICS_PORT: port().default(9_409),
  PORT: port().default(8_082),
  HOST: z.string().default("127.0.0.1"),
  ...ACCESS_FIELDS,
  ...HTTP_FIELDS,
  /** Workers ask often. */
  CALLS_PER_MINUTE: wholeNumber({ min: 1, max: 10_000_000 }).default(600_000),
  /** Bedrock's protocol. On a loopback address whoever comes without a token is tenant `default`; elsewhere nobody is. */
  BEDROCK_PORT: port().default(8_888),
  BEDROCK_HOST: z.string().default("127.0.0.1"),
  /** Connections to it. One without an accepted request makes room for the next; a tenant has at most so many. */
  BEDROCK_CONNECTIONS: wholeNumber({ min: 1, max: 100_000 }).default(LOBBY_LIMITS.connections),
  BEDROCK_CONNECTIONS_PER_TENANT: wholeNumber({ min: 1 }).default(LOBBY_LIMITS.perTenant),
  /** What connections without an accepted request may have sent together. */
  BEDROCK_UNACCEPTED_BYTES: wholeNumber({ min: 100_000 }).default(LOBBY_LIMITS.strangersBytes),
  /** Commands for later, and such whose answer nobody wants: of all tenants, and of one. */
  DEFERRED_COMMANDS: wholeNumber({ min: 1 }).default(ERRAND_LIMITS.all),
  DEFERRED_COMMANDS_PER_TENANT: wholeNumber({ min: 1 }).default(ERRAND_LIMITS.perTenant),
  /** How far ahead `commandExecuteTime` of such a command may lie. */
  DEFERRED_COMMANDS_DELAY_MAX_MS: wholeNumber({ min: 1_000 }).default(ERRAND_LIMITS.delayMs),
  /** Live jobs of one tenant; a shard holds 200,000 of all its tenants. */
  JOBS_PER_TENANT: wholeNumber({ min: 1, max: JOBS_PER_SHARD }).default(JOBS_PER_TENANT),
  /** Where the other job-apis reach this one; without JOB_PEER_SECRET on a loopback address only. */
  PEER_PORT: port().default(8_889),
  PEER_HOST: z.string().default("127.0.0.1"),
  /** The name and the port under which they do, if these are others. */
  PEER_ADVERTISE_HOST: unsetIfEmpty,
  PEER_ADVERTISE_PORT: port().optional(),
  /** Shared by all job-apis, which prove to each other that they know it. Mounted: JOB_PEER_SECRET_FILE. */
  JOB_PEER_SECRET: unsetIfEmpty,
  /** Shared by all job-apis: large data and results, and the archive of runs. */
  JOB_STORE_DIR: z.string().default("./data/job-store"),
  /** What owners write is kept once more in JOB_STORE_DIR/redo, for a restore: so long, */
  JOB_REDO_KEEP_MS: wholeNumber({ min: HOUR_MS }).default(3 * 24 * HOUR_MS),
  /** and up to so many bytes of all job-apis together; the oldest go first. */
  JOB_REDO_MAX_BYTES: wholeNumber({ min: MB }).default(1_000 * MB),
  /** Where adds wait while nobody can store them: on local disk, of this process alone. */
  JOURNAL_DIR: z.string().default("./data/job-journal"),
  /** For each of the 16 shards. */
  JOURNAL_MAX_BYTES: wholeNumber({ min: 100_000 }).default(256 * MB),
  JOURNAL_SEGMENT_BYTES: wholeNumber({ min: 1_000 }).default(16 * MB),
  /** At the end, waits within SHUTDOWN_GRACE_MS until the owners have what is in the journal. */
  JOURNAL_DRAIN: flag().default(false),
  /** Runs that ended longer ago leave the tree for the archive. */
  ARCHIVE_AFTER_MS: wholeNumber({ min: 1_000 }).default(HOUR_MS),
  /** Archived runs are kept so long. */
  ARCHIVE_RETENTION_MS: wholeNumber({ min: HOUR_MS }).default(14 * 24 * HOUR_MS),
  /** Jobs that nobody has run so long after they were due are FAILED; 0: they wait for ever. */
  UNRUN_EXPIRY_MS: wholeNumber().default(0),
  /** Tenants with a shard of their own choice, `acme=3 big=7`; counts only when the tree is new. */
  QUEUE_TENANT_SHARDS: parsedText(parseTenantShards, "like `acme=3 big=7`").default({}),
  /** More ZooKeeper ensembles, `west=zk1:2181,zk2:2181/sluice`, with spaces between them. */
  QUEUE_ENSEMBLES: parsedText(parseEnsembles, "like `west=host:port,host:port/chroot`").default(new Map()),
  /** Which shards stand there, `3=west 4=west`. The same for every job-api, from the beginning. */
  QUEUE_ENSEMBLE_SHARDS: parsedText(parseEnsembleShards, "like `3=west 4=west`").default({}),
});
export type JobApiConfig = Readonly<z.infer<typeof jobApiConfig>>;

function pairsOf(text: string): readonly (readonly [string, string])[] | null {
  const words = text.split(/\s+/).filter((word) => word !== "");
  const pairs = words.map((word) => /^([^=]+)=(.+)$/.exec(word));
  return pairs.some((pair) => pair === null) ? null : pairs.map((pair) => [pair?.[1] ?? "", pair?.[2] ?? ""]);
}

const isShard = (raw: string): boolean => /^\d{1,2}$/.test(raw) && Number(raw) < SHARDS;

function parseTenantShards(text: string): Readonly<Record<string, number>> | null {
  const pairs = pairsOf(text);
  if (pairs?.every(([tenant, shard]) => /^[a-z0-9-]{1,64}$/.test(tenant) && isShard(shard)) !== true) return null;
  return Object.fromEntries(pairs.map(([tenant, shard]) => [tenant, Number(shard)]));
}

function parseEnsembles(text: string): ReadonlyMap<string, string> | null {
  const pairs = pairsOf(text);
  if (pairs?.every(([name, connect]) => /^[a-z0-9-]{1,32}$/.test(name) && canConnect(connect)) !== true) return null;
  return new Map(pairs);
}

function parseEnsembleShards(text: string): Readonly<Record<string, string>> | null {
  const pairs = pairsOf(text);
  if (pairs?.every(([shard]) => isShard(shard)) !== true) return null;
  return Object.fromEntries(pairs.map(([shard, name]) => [String(Number(shard)), name]));
}

function canConnect(connect: string): boolean {
  try {
    parseConnect(connect);
    return true;
  } catch {
    return false;
  }
}

export const RELATIONS: readonly Relation[] = [
  ...ACCESS_RELATIONS,
  {
    path: "PEER_HOST",
    needs: ["PEER_HOST"],
    holds: (c) => c["JOB_PEER_SECRET"] !== undefined || isThisMachine(String(c["PEER_HOST"])),
    message: "must be a loopback address without JOB_PEER_SECRET (JOB_PEER_SECRET_FILE)",
  },
  {
    path: "BEDROCK_HOST",
    needs: ["BEDROCK_HOST", "AUTH"],
    holds: (c) => c["AUTH"] === "on" || isThisMachine(String(c["BEDROCK_HOST"])),
    message: "must be a loopback address while AUTH is off",
  },
  {
    path: "JOURNAL_SEGMENT_BYTES",
    needs: ["JOURNAL_SEGMENT_BYTES", "JOURNAL_MAX_BYTES"],
    holds: (c) => Number(c["JOURNAL_SEGMENT_BYTES"]) <= Number(c["JOURNAL_MAX_BYTES"]),
    message: "must not be above JOURNAL_MAX_BYTES",
  },
  {
    path: "QUEUE_ENSEMBLE_SHARDS",
    needs: ["QUEUE_ENSEMBLE_SHARDS", "QUEUE_ENSEMBLES"],
    holds: (c) =>
      Object.values(c["QUEUE_ENSEMBLE_SHARDS"] as Readonly<Record<string, string>>).every((name) =>
        (c["QUEUE_ENSEMBLES"] as ReadonlyMap<string, string>).has(name),
      ),
    message: "must name ensembles of QUEUE_ENSEMBLES",
  },
];

export const loadConfig = (env: Environment): JobApiConfig => parseConfig("job-api", jobApiConfig, env, RELATIONS);
