import { type Permission, type PermissionRow, PERMISSIONS, type Role } from "./roles.ts";

/** Collections (profiles' names), tenants of the job queue, or stages; "all" is not bound to any. */
export type Scope = "all" | readonly string[];

/** Whoever has shown who they are. */
export interface Caller {
  /** Stable and unique: limits are counted by it. */
  readonly id: string;
  /** For people: stands in audit, history and logs. */
  readonly name: string;
  readonly role: Role;
  /** Collections. */
  readonly scope: Scope;
  /** Of the job queue. */
  readonly tenants: Scope;
  /** Whose jobs they may work through the stage API; absent = of none. */
  readonly stages?: Scope;
}

export type Allowed = { readonly ok: true } | { readonly ok: false; readonly why: string };

/** Where nothing is known about tenants, there are none. */
type Asking = Pick<Caller, "role" | "scope"> & Partial<Pick<Caller, "tenants">>;

/** Whether the caller's role has a permission, and whether their scope is wide enough for it. */
export function may(caller: Asking, permission: Permission): Allowed {
  const row: PermissionRow = PERMISSIONS[permission];
  if (!row.roles.some((role) => role === caller.role)) {
    return { ok: false, why: `a ${caller.role} may not ${row.means}: that takes ${row.roles.join(" or ")}` };
  }
  if (row.wholeFleet && caller.scope !== "all") {
    return { ok: false, why: `to ${row.means} takes a caller who is not bound to single collections` };
  }
  if (row.everyTenant === true && caller.tenants !== "all") {
    return { ok: false, why: `to ${row.means} takes a caller who is not bound to single tenants` };
  }
  return { ok: true };
}

export const inScope = (scope: Scope, name: string): boolean => scope === "all" || scope.includes(name);
