export { blockOf, BLOCK_IDS, parseJobId, shardOf } from "./ids.ts";
export { matchesName, parseNames, type NameMatch } from "./names.ts";
export { meaningOf, paths, type Meaning } from "./paths.ts";
export { records, type Done, type Ids, type Job, type Layout, type Lease, type StoredJob } from "./records.ts";
export {
  isAllowed,
  isLeased,
  isPending,
  isReachable,
  MOVES,
  STATE_TABLE,
  STATES,
  type Move,
  type State,
} from "./states.ts";
export { DEFAULT_TENANT, isTenant, shardOfTenant, SHARDS, SYSTEM_TENANT } from "./tenants.ts";
export { applyModifiers, parseModifiers, type Modifier } from "./time/modifiers.ts";
export { nextRunOf, parseRepeat, type Moments, type Repeat } from "./time/repeat.ts";
export { parseTime, showSeconds, showTime } from "./time/timestamp.ts";
