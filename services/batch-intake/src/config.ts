import { ACCESS_FIELDS, ACCESS_RELATIONS } from "@sluice/access";
import { HTTP_FIELDS } from "@sluice/http-api";
import { INVENTORY_URL_FORMS, parseInventoryUrl } from "@sluice/inventory";
import { credentialsProblem } from "@sluice/safe-io";
import {
  baseConfig,
  checkedText,
  egressSettings,
  flag,
  parseConfig,
  parsedText,
  port,
  type Environment,
  type Relation,
  serviceUrl,
  wholeNumber,
} from "@sluice/stage-runtime";
import { z } from "zod";

const GB = 1_000_000_000;
const MB = 1_000_000;

export const intakeConfig = baseConfig.extend({
  PORT: port().default(8080),
  HOST: z.string().default("127.0.0.1"),
  ...ACCESS_FIELDS,
  ...HTTP_FIELDS,
  WORKING_DIR: z.string().default("./data/queue"),
  PROFILES_DIR: z.string().default("./data/profiles"),
  /** Where batches that have left the queue are looked up. */
  INVENTORY_URL: parsedText(parseInventoryUrl, INVENTORY_URL_FORMS).optional(),
  ...egressSettings,
  /** User names and passwords by host, a secret file. */
  DOWNLOAD_AUTH_FILE: checkedText(credentialsProblem).optional(),
  UPLOAD_MAX_BYTES: wholeNumber({ min: 1 }).default(30 * GB),
  /** All files of one form together. */
  UPLOAD_FORM_MAX_BYTES: wholeNumber({ min: 1 }).default(60 * GB),
  /** What of a form is read before it has named its profile. */
  UPLOAD_UNNAMED_MAX_BYTES: wholeNumber({ min: 1 }).default(GB),
  /** What one collection may have in progress: batches, jobs, bytes uploaded or announced. Its profile may say otherwise. */
  COLLECTION_MAX_BATCHES: wholeNumber({ min: 1 }).default(10_000),
  COLLECTION_MAX_JOBS: wholeNumber({ min: 1 }).default(1_000_000),
  /** Its share of the places in the queue; more rows wait in their manifest. */
  COLLECTION_MAX_QUEUED_JOBS: wholeNumber({ min: 1 }).default(20_000),
  COLLECTION_MAX_BYTES: wholeNumber({ min: 1 }).default(10_000 * GB),
  MANIFEST_MAX_BYTES: wholeNumber({ min: 1 }).default(GB / 2),
  /** `default` takes what Merritt's production takes, `strict` what its public validator takes. */
  MANIFEST_MODE: z.enum(["default", "strict"]).default("default"),
  /** Where submissions wait while ZooKeeper cannot be reached: on local disk, of this process alone. */
  JOURNAL_DIR: z.string().default("./data/journal"),
  JOURNAL_MAX_BYTES: wholeNumber({ min: 100_000 }).default(256 * MB),
  JOURNAL_MAX_RECORDS: wholeNumber({ min: 1 }).default(50_000),
  JOURNAL_SEGMENT_BYTES: wholeNumber({ min: 1_000 }).default(16 * MB),
  /** At the end, waits within SHUTDOWN_GRACE_MS until the queue has what is in the journal: where a process goes for good. */
  JOURNAL_DRAIN: flag().default(false),
  /** Uploads that never became a batch are removed after this time. */
  INCOMING_MAX_AGE_MS: wholeNumber({ min: 60_000 }).default(48 * 3_600_000),
  /** Where deposits for later are kept: the general job queue. */
  JOB_API_URL: serviceUrl().optional(),
  /** A scheduler's, … */
  JOB_API_TOKEN: z.string().optional(),
  /** … or the file that holds it, read again when it changes. */
  JOB_API_TOKEN_FILE: z.string().optional(),
  /** Deposits for later that one depositor can have. */
  SCHEDULES_PER_DEPOSITOR: wholeNumber({ min: 1, max: 200 }).default(100),
  /** From one run of such a deposit to the next. */
  SCHEDULE_INTERVAL_MIN_MS: wholeNumber({ min: 0 }).default(900_000),
});

export type IntakeConfig = Readonly<z.infer<typeof intakeConfig>>;

export const RELATIONS: readonly Relation[] = [
  ...ACCESS_RELATIONS,
  {
    path: "JOURNAL_SEGMENT_BYTES",
    needs: ["JOURNAL_SEGMENT_BYTES", "JOURNAL_MAX_BYTES"],
    holds: (c) => Number(c["JOURNAL_SEGMENT_BYTES"]) <= Number(c["JOURNAL_MAX_BYTES"]),
    message: "must not be above JOURNAL_MAX_BYTES",
  },
  {
    path: "MANIFEST_MAX_BYTES",
    needs: ["MANIFEST_MAX_BYTES", "UPLOAD_MAX_BYTES"],
    holds: (c) => Number(c["MANIFEST_MAX_BYTES"]) <= Number(c["UPLOAD_MAX_BYTES"]),
    message: "must not be above UPLOAD_MAX_BYTES",
  },
  {
    path: "UPLOAD_FORM_MAX_BYTES",
    needs: ["UPLOAD_FORM_MAX_BYTES", "UPLOAD_MAX_BYTES"],
    holds: (c) => Number(c["UPLOAD_FORM_MAX_BYTES"]) >= Number(c["UPLOAD_MAX_BYTES"]),
    message: "must not be below UPLOAD_MAX_BYTES",
  },
];

export const loadConfig = (env: Environment): IntakeConfig => parseConfig("batch-intake", intakeConfig, env, RELATIONS);
