/** Where to look for what a restored tree does not know: options that `lost` and `restore` share. */
import { type LostInventory, openLostInventory } from "@sluice/lost-batches";
import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import type { Option } from "../command.ts";
import { type Context, stop } from "../context.ts";
import { EXIT, type ExitCode } from "../exit-codes.ts";

export const WORKING_DIR: Option = {
  name: "working-dir",
  value: "FOLDER",
  says: "the working folder (WORKING_DIR of the services): what was accepted, uploads, which reports were sent",
};
const INVENTORY: Option = {
  name: "inventory",
  value: "URL",
  says: "the inventory: what was recorded and archived; by default INVENTORY_URL or INVENTORY_URL_FILE, so that its password stands in no list of processes",
};
export const LOST_PARTS: readonly Option[] = [WORKING_DIR, INVENTORY];

export interface LostParts {
  readonly workingDir: string;
  /** null: it is not asked. */
  readonly inventory: LostInventory | null;
}

/** Runs `work` with the parts that were named; the inventory is closed with it. */
export async function withLostParts(
  context: Context,
  work: (parts: LostParts) => Promise<ExitCode>,
): Promise<ExitCode> {
  const { given, io } = context;
  const folder = given.text("working-dir");
  if (folder === undefined)
    return stop(context, EXIT.usage, "what was accepted stands in the working folder", "add --working-dir FOLDER");
  const url = given.text("inventory") ?? (await inventoryOfServices(io.env));
  const opened = url === undefined ? null : await openLostInventory(url, io.cwd);
  if (opened?.ok === false) return stop(context, EXIT.usage, opened.problem);
  const inventory = opened?.inventory ?? null;
  try {
    return await work({ workingDir: resolve(io.cwd, folder), inventory });
  } finally {
    await inventory?.close();
  }
}

/** As the services are told. */
async function inventoryOfServices(env: Context["io"]["env"]): Promise<string | undefined> {
  const file = env["INVENTORY_URL_FILE"];
  return file === undefined ? env["INVENTORY_URL"] : (await readFile(file, "utf8")).trim();
}
