/**
 * In the fleet's own tenant, `sealed` of a job's data stays as it was when the job was made, and few may make such a job: a deposit
 * for later is somebody's, and whoever may touch the fleet's jobs must not let it submit something else in their name, nor make
 * one in their name.
 */
import { isDeepStrictEqual } from "node:util";
import { type Job, parseJson } from "../records.ts";
import { SYSTEM_TENANT } from "../tenants.ts";
import type { NewJob } from "./commands.ts";
import { dataFields, isObject } from "./data.ts";
import { type Status, STATUS } from "./statuses.ts";

type Sealable = Pick<Job, "name" | "data"> & { readonly dataRef?: Job["dataRef"] | undefined };

export function sealProblem(tenant: string, old: Sealable, next: Sealable): Status | null {
  if (tenant !== SYSTEM_TENANT) return null;
  const [before, after] = [sealedIn(old), sealedIn(next)];
  const isSame = isDeepStrictEqual(before, after) && (before === undefined || old.name === next.name);
  return isSame ? null : STATUS.sealed;
}

/** Of a job that is to be made. */
export function birthProblem(tenant: string, { name, data, seals }: NewJob): Status | null {
  if (tenant !== SYSTEM_TENANT || seals === true) return null;
  return sealedIn({ name, ...dataFields(data) }) === undefined ? null : STATUS.notToSeal;
}

/** What stands in the store of blobs is not looked into: it may change for nothing but itself. */
export function sealedIn({ data, dataRef }: Sealable): unknown {
  if (dataRef !== undefined) return dataRef.sha256;
  const value = parseJson(data);
  return isObject(value) ? value["sealed"] : undefined;
}
