/** /fleet/jobs/JID, as the rules read it. */
import { type FleetJob, type JobEvent, records } from "@sluice/queue-core";
import type { JobChange } from "./views.ts";

export function historyOf({ history }: { readonly history: Buffer | null }): FleetJob | null {
  const decoded = history === null ? null : records.fleetJob.decode(history);
  return decoded?.ok === true ? decoded.value : null;
}

/** Those of this very transaction. */
export function newEvents({ before, after }: JobChange): readonly JobEvent[] {
  if (after.history === null || before.history?.equals(after.history) === true) return [];
  const known = new Set(historyOf(before)?.events.map(([op]) => op));
  return (historyOf(after)?.events ?? []).filter(([op]) => !known.has(op));
}

/**
 * The record is short: its oldest events may go at any write, and the words of those that stay may be cut short. All
 * else of them is as it was.
 */
export function isTailOf(events: readonly JobEvent[], whole: readonly JobEvent[]): boolean {
  if (events.length > whole.length) return false;
  const tail = whole.slice(whole.length - events.length);
  return events.every((event, i) => tail[i] !== undefined && isSameCutShort(event, tail[i]));
}

const DETAIL = 5;

function isSameCutShort(now: JobEvent, before: JobEvent): boolean {
  const [words = "", said = ""] = [now[DETAIL], before[DETAIL]];
  const but = (event: JobEvent): string => JSON.stringify(event.filter((_, i) => i !== DETAIL));
  return but(now) === but(before) && said.startsWith(words);
}
