import { isProfileId } from "@sluice/ingest-formats";

const SUFFIX = ".properties";

/** A name that is safe as a file name, as a znode name and in a mail: what it is not is refused before any lookup. */
export const isProfileName = (name: string): boolean => isProfileId(name) && name.endsWith("_content");

/** The profile that a file holds; null for files that are no profiles (templates, notes, editors' back-ups). */
export function profileNameOf(fileName: string): string | null {
  const name = fileName.endsWith(SUFFIX) ? fileName.slice(0, -SUFFIX.length) : fileName;
  return isProfileName(name) && !name.startsWith("TEMPLATE") ? name : null;
}
