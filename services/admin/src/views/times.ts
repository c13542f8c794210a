import { parseTimestamp } from "@sluice/queue-core";

/** CDL's timestamps as RFC 3339; null where there is none that can be read. */
export function timeOf(timestamp: string | null | undefined): string | null {
  const ms = timestamp == null ? null : parseTimestamp(timestamp);
  return ms === null ? null : new Date(ms).toISOString();
}

/** The other way: what a caller gave as RFC 3339. */
export const timestampMs = (rfc3339: string): number => Date.parse(rfc3339);
