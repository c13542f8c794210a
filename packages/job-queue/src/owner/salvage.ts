/**
 * What can be saved of a record that cannot be read: a field of a newer version after a rollback, a value that a wrong hand
 * wrote. The job counts as FAILED, with every field that is right; its node keeps its bytes until somebody requeues or
 * deletes the job.
 */
import { parseJson, type Job, JobSchema, type StoredJob } from "../records.ts";
import { SYSTEM_TENANT } from "../tenants.ts";
import { wholeJob } from "../whole-job.ts";

/** Shown with the job, for whoever has to decide what becomes of it. */
export interface Unreadable {
  readonly problem: string;
  /** As UTF-8. */
  readonly bytes: string;
}

/** Larger records are shown up to here: a name and a reason must still fit into an answer. */
const BYTES_SHOWN = 8 * 1024;
const PRIORITY = 500;

export interface Salvaged {
  readonly job: Omit<Job, "data"> & { readonly data: string | undefined };
  readonly unreadable: Unreadable;
}

export function salvage(id: number, data: Buffer, problem: string): Salvaged {
  const found = goodFields(parseJson(data.toString("utf8")));
  // Without a tenant or a name nobody would find it: then it is the fleet's own.
  const { tenant, name } = found;
  const owner =
    tenant === undefined || name === undefined ? { tenant: SYSTEM_TENANT, name: `unreadable/${id}` } : { tenant, name };
  const job = wholeJob({
    ...found,
    ...owner,
    state: "FAILED",
    priority: found.priority ?? PRIORITY,
    nextRun: found.nextRun ?? 0,
    created: found.created ?? 0,
    lease: undefined,
    step: `its record cannot be read: ${problem}`,
    data: "",
    ev: found.ev ?? [],
  });
  return {
    job: { ...job, data: found.data },
    unreadable: { problem, bytes: data.subarray(0, BYTES_SHOWN).toString("utf8") },
  };
}

/** Each field that is right by itself. */
function goodFields(raw: unknown): Partial<StoredJob> {
  if (typeof raw !== "object" || raw === null || Array.isArray(raw)) return {};
  const given = raw as Readonly<Record<string, unknown>>;
  const good = Object.entries(JobSchema.shape).flatMap(([name, schema]) => {
    if (!Object.hasOwn(given, name)) return [];
    const parsed = schema.safeParse(given[name]);
    return parsed.success ? [[name, parsed.data] as const] : [];
  });
  return Object.fromEntries(good);
}
