import { parseStorageUrl, STORAGE_URL_FORMS, type StorageUrl } from "@sluice/ingest-formats";
import { INVENTORY_URL_FORMS, parseInventoryUrl } from "@sluice/inventory";
import {
  baseConfig,
  egressSettings,
  type Environment,
  parseConfig,
  parsedText,
  port,
  type Relation,
  wholeNumber,
} from "@sluice/stage-runtime";
import { z } from "zod";
import { MINT_URL_FORMS, type MintUrl, parseAccount, parseMintUrl } from "./minter/open-minter.ts";

/** Inside a cluster a host is often one word or a number, which zod's own httpUrl refuses. */
const httpUrl = () => z.url({ protocol: /^https?$/, error: "must be an http or https URL" });

export const processorConfig = baseConfig.extend({
  STAGE_CONCURRENCY: wholeNumber({ min: 1, max: 1_000 }).default(2),
  METRICS_PORT: port().default(9_404),
  WORKING_DIR: z.string().default("./data/queue"),
  PROFILES_DIR: z.string().default("./data/profiles"),
  STORAGE_URL: parsedText(parseStorageUrl, STORAGE_URL_FORMS).prefault("ocfl:./data/store"),
  /** Where a storage service finds WORKING_DIR. */
  WORKING_ACCESS_URL: httpUrl().optional(),
  /** How long a storage service may take for one object, which it fetches meanwhile. */
  STORE_TIMEOUT_MS: wholeNumber({ min: 1_000, max: 604_800_000 }).default(172_800_000),
  /** Asked which objects local ids stand for. */
  INVENTORY_URL: parsedText(parseInventoryUrl, INVENTORY_URL_FORMS).prefault("sqlite:./data/inventory.db"),
  /** Who gives new ARKs; the shoulder counts where profiles name no minter of their own. */
  MINT_URL: parsedText(parseMintUrl, MINT_URL_FORMS).prefault("noid:99999/fk4"),
  /** USER:PASSWORD at EZID; use EZID_CREDENTIALS_FILE. */
  EZID_CREDENTIALS: parsedText(parseAccount, "USER:PASSWORD").optional(),
  /** Where ARKs lead: TARGET/m/ARK. */
  MINT_TARGET_URL: httpUrl().optional(),
  /** How long one request to the minter may take. */
  MINT_TIMEOUT_MS: wholeNumber({ min: 100, max: 600_000 }).default(60_000),
  ...egressSettings,
  /** When a job is tried again whose object another job is working on. */
  OBJECT_BUSY_WAIT_MS: wholeNumber({ min: 1, max: 3_600_000 }).default(2_000),
  /** When a job is tried again that needs the inventory while it is away. */
  INVENTORY_AWAY_WAIT_MS: wholeNumber({ min: 1, max: 3_600_000 }).default(15_000),
  /** When a job is tried again that found the working volume full. */
  DISK_FULL_WAIT_MS: wholeNumber({ min: 1, max: 86_400_000 }).default(60_000),
});
export type ProcessorConfig = Readonly<z.infer<typeof processorConfig>>;

/** What one variable asks of another. */
export const PROCESSOR_RELATIONS: readonly Relation[] = [
  {
    path: "EZID_CREDENTIALS",
    needs: ["MINT_URL"],
    holds: ({ MINT_URL, EZID_CREDENTIALS }) => (MINT_URL as MintUrl).kind === "noid" || EZID_CREDENTIALS !== undefined,
    message: "is required for an EZID service (in EZID_CREDENTIALS_FILE)",
  },
  {
    path: "WORKING_ACCESS_URL",
    needs: ["STORAGE_URL"],
    holds: ({ STORAGE_URL, WORKING_ACCESS_URL }) =>
      (STORAGE_URL as StorageUrl).kind === "ocfl" || WORKING_ACCESS_URL !== undefined,
    message: "is required for a storage service, which fetches the files from there",
  },
];

export const loadConfig = (env: Environment): ProcessorConfig =>
  parseConfig("processor", processorConfig, env, PROCESSOR_RELATIONS);
