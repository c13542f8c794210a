/**
 * How close the runs of a schedule may come. Schedules of the fleet's own tenant keep a distance and make up for nothing: a
 * depositor's schedule must not submit without a pause. Those of other tenants follow the document.
 */
import { FLEET_INTERVAL_MS, SEALED_INTERVAL_MS } from "../limits.ts";
import type { Job } from "../records.ts";
import { SYSTEM_TENANT } from "../tenants.ts";
import { isObject } from "./data.ts";
import { sealedIn } from "./sealed.ts";

/** Null: the document's rules. */
export function leastIntervalOf(job: Pick<Job, "tenant" | "name" | "data" | "dataRef">): number | null {
  if (job.tenant !== SYSTEM_TENANT) return null;
  const sealed = sealedIn(job);
  if (sealed === undefined) return FLEET_INTERVAL_MS;
  const least = isObject(sealed) ? sealed["leastIntervalMs"] : undefined;
  const isGiven = typeof least === "number" && Number.isSafeInteger(least);
  return isGiven ? Math.max(least, FLEET_INTERVAL_MS) : SEALED_INTERVAL_MS;
}
