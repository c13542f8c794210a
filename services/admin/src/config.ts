import { ACCESS_FIELDS, ACCESS_RELATIONS } from "@sluice/access";
import { HTTP_FIELDS } from "@sluice/http-api";
import { INVENTORY_URL_FORMS, parseInventoryUrl } from "@sluice/inventory";
import {
  baseConfig,
  type Environment,
  parseConfig,
  parsedText,
  port,
  ratio,
  type Relation,
  serviceUrl,
  wholeNumber,
} from "@sluice/stage-runtime";
import { z } from "zod";

const folder = z
  .string()
  .optional()
  .transform((raw) => (raw === "" ? undefined : raw));

export const adminConfig = baseConfig.extend({
  METRICS_PORT: port().default(9_408),
  PORT: port().default(8_081),
  HOST: z.string().default("127.0.0.1"),
  ...ACCESS_FIELDS,
  ...HTTP_FIELDS,
  /** A browser's session ends after so long without a request, … */
  SESSION_IDLE_MS: wholeNumber({ min: 60_000, max: 86_400_000 }).default(3_600_000),
  /** … and so long after its login in any case. */
  SESSION_MAX_MS: wholeNumber({ min: 60_000, max: 7 * 86_400_000 }).default(12 * 3_600_000),
  /** However many scrape and look, ZooKeeper is asked at most this often. */
  SURVEY_MAX_AGE_MS: wholeNumber({ max: 60_000 }).default(2_000),
  /** How often the whole tree is looked over for contradictions; 0 = never. */
  FSCK_INTERVAL_MS: wholeNumber({ max: 86_400_000 }).default(900_000),
  WORKING_DIR: z.string().default("./data/queue"),
  PROFILES_DIR: z.string().default("./data/profiles"),
  /** As the provisioner has it: shown, not used. */
  SPACE_LIMIT: ratio().default(0.8),
  /** Where batches that have left the queue are looked up. */
  INVENTORY_URL: parsedText(parseInventoryUrl, INVENTORY_URL_FORMS).optional(),
  /** Public keys in PEM whose signatures below the archived audit count: those of rotated keys too. */
  AUDIT_PUBLIC_KEYS_FILE: folder,
  /** The outbox of a development fleet: its mails are shown. */
  MAIL_OUTBOX_DIR: folder,
  /** Where the services write their logs, if they can be read from here. */
  LOGS_DIR: folder,
  /** Where the general job queue is asked: its pages and /v1/queue/ need it. */
  JOB_API_URL: serviceUrl().optional(),
  /** Where an intake is asked for depositors' own deposits for later: their page needs it. */
  INTAKE_URL: serviceUrl().optional(),
});
export type AdminConfig = Readonly<z.infer<typeof adminConfig>>;

export const ADMIN_RELATIONS: readonly Relation[] = [
  ...ACCESS_RELATIONS,
  {
    path: "SESSION_IDLE_MS",
    needs: ["SESSION_IDLE_MS", "SESSION_MAX_MS"],
    holds: (c) => Number(c["SESSION_IDLE_MS"]) <= Number(c["SESSION_MAX_MS"]),
    message: "must not be above SESSION_MAX_MS",
  },
];

export const loadConfig = (env: Environment): AdminConfig => parseConfig("admin", adminConfig, env, ADMIN_RELATIONS);
