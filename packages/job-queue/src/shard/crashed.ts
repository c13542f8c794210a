/** Types that are not handed out because they crash who runs them: their due jobs fail instead. */
import { CRASHED_BYTES } from "../limits.ts";
import { records } from "../records.ts";
import { type Reply, reply } from "./views.ts";
import type { Shard } from "./shard.ts";
import { STATUS } from "./statuses.ts";

export function crashJobs(
  shard: Shard,
  { tenant, names }: { readonly tenant: string; readonly names: readonly string[] },
): Reply {
  const crashed = { ...shard.crashed, [tenant]: [...new Set([...shard.crashedOf(tenant), ...names])] };
  if (records.crashed.encode(crashed).length > CRASHED_BYTES) return reply(STATUS.malformed("name"));
  shard.putCrashed(crashed);
  return reply(STATUS.ok);
}

/** For who wonders why jobs fail. */
export const listCrashed = (shard: Shard, tenant: string): Reply =>
  reply(STATUS.ok, { kind: "crashed", names: shard.crashedOf(tenant) });

export function clearCrashed(shard: Shard, tenant: string): Reply {
  const { [tenant]: _, ...others } = shard.crashed;
  if (shard.crashedOf(tenant).length > 0) shard.putCrashed(others);
  return reply(STATUS.ok);
}
