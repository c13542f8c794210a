/** What a job is called, and whether a search means it: the same for lists and for actions on all that was found. Pure. */
import type { Identifiers, JobConfiguration } from "@sluice/queue-core";

const NAME_MAX = 200;

/** As the depositor calls it, or the last part of its address; never a query: that may hold a signature. */
export function nameOf(given: string | undefined, url: string, otherwise: string): string {
  if (given !== undefined && given !== "") return given.slice(0, NAME_MAX);
  const path = url.startsWith("upload:") ? url.slice("upload:".length) : URL.canParse(url) ? new URL(url).pathname : "";
  const last = path.split("/").findLast((part) => part !== "");
  return last === undefined ? otherwise : decoded(last).slice(0, NAME_MAX);
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** Upper and lower case are the same. */
export function mentions(text: string, name: string, identifiers: Identifiers | null): boolean {
  const wanted = text.toLowerCase();
  return [name, identifiers?.primary_id ?? "", ...(identifiers?.local_id ?? [])].some((word) =>
    word.toLowerCase().includes(wanted),
  );
}

interface Named {
  readonly configuration: JobConfiguration;
  readonly identifiers: Identifiers | null;
}

export const isMeant = (text: string, { configuration, identifiers }: Named): boolean =>
  mentions(text, nameOf(configuration.payload_name, configuration.payload_url, ""), identifiers);
