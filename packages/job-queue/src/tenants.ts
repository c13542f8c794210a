/** Tenants, and the shard in which all jobs of a tenant stand. */

export const SHARDS = 16;

/** The tenant of callers that name none; alone in the first shard, so that its jobs are numbered 1, 2, 3, … */
export const DEFAULT_TENANT = "default";
/** The fleet's own jobs; alone in the last shard, and so with ids of their own. */
export const SYSTEM_TENANT = "system";

const TENANT = /^[a-z0-9-]{1,64}$/;
export const isTenant = (raw: string): boolean => TENANT.test(raw);

/** Large tenants may be given a shard by hand, in the layout. */
export function shardOfTenant(tenant: string, overrides: Readonly<Record<string, number>> = {}): number {
  const chosen = Object.hasOwn(overrides, tenant) ? overrides[tenant] : undefined;
  if (chosen !== undefined) return chosen;
  if (tenant === DEFAULT_TENANT) return 0;
  if (tenant === SYSTEM_TENANT) return SHARDS - 1;
  return 1 + (fnv1a(tenant) % (SHARDS - 2));
}

/** FNV-1a, 32 bits. Tenants are ASCII. */
function fnv1a(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return hash >>> 0;
}
