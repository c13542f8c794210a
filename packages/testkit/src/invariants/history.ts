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

/** The record is short: its oldest events may go at any write, those that stay are as they were. */
export const isTailOf = (events: readonly JobEvent[], whole: readonly JobEvent[]): boolean =>
  events.length <= whole.length && JSON.stringify(events) === JSON.stringify(whole.slice(whole.length - events.length));
