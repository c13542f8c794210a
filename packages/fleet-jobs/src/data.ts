/** The settings of a job stand in its data, where operators change them. */
import { z } from "zod";
import { EXIT, type FleetJob, type FleetOutcome, outcome } from "./handler.ts";

export type Settings<T> =
  { readonly ok: true; readonly value: T } | { readonly ok: false; readonly outcome: FleetOutcome };

/** Keys that it does not know are left alone: others may keep theirs there. */
export function settingsOf<S extends z.ZodType>(schema: S, { data }: Pick<FleetJob, "data">): Settings<z.output<S>> {
  const read = schema.safeParse(data);
  if (read.success) return { ok: true, value: read.data };
  const why = read.error.issues.map(({ path, message }) => `${path.join(".")}: ${message}`).join("; ");
  return { ok: false, outcome: outcome(EXIT.wrongData, { why }) };
}

export const days = (standard: number) => z.number().min(0).max(3_650).default(standard);
export const copies = (standard: number) => z.int().min(1).max(10_000).default(standard);
export const DAY_MS = 86_400_000;
