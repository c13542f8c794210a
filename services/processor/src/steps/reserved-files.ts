/** Files of the producer whose names have a meaning: read whole, once they are known to be what they should be. */
import type { ClaimFolder } from "@sluice/working-folder";
import { fail } from "@sluice/stage-runtime";
import type { ProcessorParts } from "../parts.ts";
import type { VerifiedFile } from "./fixity.ts";
import { diskTrouble, ended, type Step, went } from "./step.ts";

export const RESERVED_NAMES = [
  "mrt-erc.txt",
  "mrt-datacite.xml",
  "mrt-dc.xml",
  "mrt-embargo.txt",
  "mrt-delete.txt",
] as const;
export type ReservedName = (typeof RESERVED_NAMES)[number];

export type ReservedFiles = ReadonlyMap<ReservedName, string>;

/** They are held in memory; a list of 100,000 files to delete is smaller. */
const MAX_BYTES = 8 * 1024 * 1024;

export async function readReserved(
  producer: readonly VerifiedFile[],
  kept: ClaimFolder,
  parts: ProcessorParts,
): Promise<Step<ReservedFiles>> {
  const sizes = new Map(producer.map(({ name, bytes }) => [name, bytes]));
  const texts = new Map<ReservedName, string>();
  for (const name of RESERVED_NAMES) {
    const bytes = sizes.get(name);
    if (bytes === undefined) continue;
    if (bytes > MAX_BYTES) {
      return ended(fail("METADATA_INVALID", `${name} has ${bytes} bytes: more than ${MAX_BYTES} are not read`));
    }
    const file = await kept.producer.read(name);
    if (!file.ok) return diskTrouble(file.error, parts.diskFullWaitMs);
    texts.set(name, file.value.toString("utf8"));
  }
  return went(texts);
}
