/**
 * The usual record, checked by hand: a takeover reads a hundred thousand of them, and the schema takes most of its time.
 * What passes here passes the schema and means the same, which a test holds against it; whatever else is left to the schema.
 */
import { EVENTS_KEPT, LEASE_KINDS, NAME_BYTES } from "./limits.ts";
import type { Job, JobEvent, Lease } from "./records.ts";
import { MOVES, STATES } from "./states.ts";
import { isTenant } from "./tenants.ts";
import { type JobFields, wholeJob } from "./whole-job.ts";

type Raw = Readonly<Record<string, unknown>>;
type Check = (value: unknown) => boolean;

const isText: Check = (value) => typeof value === "string";
const isTrue: Check = (value) => value === true;
const isMoment: Check = (value) => Number.isSafeInteger(value);
const isAtLeast =
  (least: number): Check =>
  (value) =>
    Number.isSafeInteger(value) && (value as number) >= least;
const isWhole = isAtLeast(0);
const isPositive = isAtLeast(1);
const isOneOf = (values: readonly string[]): Check => {
  const set: ReadonlySet<unknown> = new Set(values);
  return (value) => set.has(value);
};
const isObject = (value: unknown): value is Raw => typeof value === "object" && value !== null && !Array.isArray(value);

const isName: Check = (value) =>
  typeof value === "string" && value.length > 0 && Buffer.byteLength(value) <= NAME_BYTES;
const isTenantText: Check = (value) => typeof value === "string" && isTenant(value);
const isPriority: Check = (value) => isWhole(value) && (value as number) <= 1000;
const isToken: Check = (value) => typeof value === "string" && /^\d+\.\d+$/.test(value);

const LEASE: Readonly<Record<keyof Lease, Check>> = {
  token: isToken,
  worker: isText,
  kind: isOneOf(LEASE_KINDS),
  ttl: isPositive,
};
const LEASE_FIELDS = Object.keys(LEASE).length;
const isLease: Check = (value) => isObject(value) && countGood(value, LEASES) === LEASE_FIELDS;

const isEventName = isOneOf([...MOVES, "create"] satisfies JobEvent[1][]);
const isEvent: Check = (value) =>
  Array.isArray(value) && isMoment(value[0]) && isEventName(value[1]) && value.slice(2).every(isText);
const areEvents: Check = (value) => Array.isArray(value) && value.length <= EVENTS_KEPT && value.every(isEvent);

const NEEDED = {
  v: (value) => value === 1,
  name: isName,
  tenant: isTenantText,
  state: isOneOf(STATES),
  priority: isPriority,
  nextRun: isMoment,
  created: isMoment,
  data: isText,
  ev: areEvents,
} as const satisfies Partial<Record<keyof Job, Check>>;

/** Without `dataRef`: who has a blob is rare, and the schema's. */
const OPTIONAL: Readonly<Record<Exclude<keyof Job, keyof typeof NEEDED | "dataRef">, Check>> = {
  lastRun: isMoment,
  repeat: isText,
  unique: isTrue,
  retryAfter: isText,
  retryAfterCount: isWhole,
  reoffers: isWhole,
  parent: isPositive,
  gate: isPositive,
  phase: isWhole,
  cleared: isWhole,
  endedIn: isWhole,
  leaving: isTrue,
  grp: isText,
  mock: isTrue,
  lease: isLease,
  maxRunTime: isPositive,
  step: isText,
  onFinish: isText,
};

const LEASES: ReadonlyMap<string, Check> = new Map(Object.entries(LEASE));
const NEEDS: ReadonlyMap<string, Check> = new Map(Object.entries(NEEDED));
const OPTIONS: ReadonlyMap<string, Check> = new Map(Object.entries(OPTIONAL));

/** How many of its fields are among these; -1 if one is not as it should be, or is neither here nor among the others. */
function countGood(value: Raw, checks: ReadonlyMap<string, Check>, others?: ReadonlyMap<string, Check>): number {
  let count = 0;
  for (const key in value) {
    const check = checks.get(key);
    if (check !== undefined) count += 1;
    if ((check ?? others?.get(key))?.(value[key]) !== true) return -1;
  }
  return count;
}

/** Null: not a usual one. It may still be a good one. */
export function usualJob(raw: unknown): Job | null {
  return isObject(raw) && countGood(raw, NEEDS, OPTIONS) === NEEDS.size ? wholeJob(raw as JobFields & Raw) : null;
}
