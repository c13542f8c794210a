import { INVENTORY_URL_FORMS, parseInventoryUrl } from "@sluice/inventory";
import { baseConfig, type Environment, parseConfig, parsedText, port, wholeNumber } from "@sluice/stage-runtime";
import { z } from "zod";
import { mailUrlProblem } from "./open-mailer.ts";

const ADDRESS = /^[^\s@<>,;:"()[\]\\]{1,64}@[A-Za-z0-9.-]{1,255}$/;
const address = () => z.string().regex(ADDRESS, "must be a mail address");

/** `Name <address>` or an address alone, on one line. */
const sender = () =>
  z
    .string()
    .regex(
      /^(?:[^<>\r\n"]* ?<[^\s@<>]+@[A-Za-z0-9.-]+>|[^\s@<>]+@[A-Za-z0-9.-]+)$/,
      "must be an address or Name <address>",
    );

const DAY_MS = 86_400_000;

const addresses = () =>
  z
    .string()
    .default("")
    .transform((raw) =>
      raw
        .split(",")
        .map((part) => part.trim())
        .filter((part) => part !== ""),
    )
    .pipe(z.array(address()));

export const reporterConfig = baseConfig.extend({
  STAGE_CONCURRENCY: wholeNumber({ min: 1, max: 1_000 }).default(2),
  METRICS_PORT: port().default(9_407),
  WORKING_DIR: z.string().default("./data/queue"),
  PROFILES_DIR: z.string().default("./data/profiles"),
  /** Where batches are archived before they leave the queue. */
  INVENTORY_URL: parsedText(parseInventoryUrl, INVENTORY_URL_FORMS).prefault("sqlite:./data/inventory.db"),
  /** outbox:FOLDER, smtp://… or smtps://…; one with a password comes from a file named by MAIL_URL_FILE. */
  MAIL_URL: z
    .string()
    .superRefine((raw, ctx) => {
      const problem = mailUrlProblem(raw);
      if (problem !== null) ctx.addIssue({ code: "custom", message: problem });
    })
    .default("outbox:./data/outbox"),
  /** Its domain is also that of the Message-IDs: the same for all replicas. */
  MAIL_FROM: sender().default("Sluice <sluice@localhost>"),
  MAIL_REPLY_TO: address().optional(),
  /** Operators who want a copy of every report, joined by commas. */
  MAIL_BCC: addresses(),
  /** Who is told of what fsck finds (the job fleet/fsck-report), joined by commas. */
  MAIL_OPERATORS: addresses(),
  /** Stands in every subject where it is not production: dev, stg. */
  MAIL_SUBJECT_TAG: z
    .string()
    .regex(/^[A-Za-z0-9 _.-]{0,20}$/, "must be at most 20 letters, digits or _ . -")
    .default(""),
  /** How long a batch that is over stays in ZooKeeper. */
  RETENTION_DAYS: wholeNumber({ max: 3_650 }).default(7),
  /** How often ended jobs are cleared away and forgotten batches looked for. */
  SWEEP_INTERVAL_MS: wholeNumber({ min: 100, max: 3_600_000 }).default(5_000),
  /** How long a record of the audit stays in ZooKeeper; it stays in the archive for ever. */
  AUDIT_RETENTION_DAYS: wholeNumber({ min: 1, max: 3_650 }).default(90),
  /** An Ed25519 key in PEM, which signs how far the audit is archived. Without it no record is removed. */
  AUDIT_KEY_FILE: z.string().optional(),
  /** The archive was lost: records up to this number are in none any more, and that is known. */
  AUDIT_LOST_UP_TO: wholeNumber({ max: Number.MAX_SAFE_INTEGER }).default(0),
  AUDIT_INTERVAL_MS: wholeNumber({ min: 100, max: DAY_MS }).default(3_600_000),
  CLEAN_UP_INTERVAL_MS: wholeNumber({ min: 100, max: DAY_MS }).default(3_600_000),
});
export type ReporterConfig = Readonly<z.infer<typeof reporterConfig>>;

export const loadConfig = (env: Environment): ReporterConfig => parseConfig("reporter", reporterConfig, env);
