import { type Permission, PERMISSIONS, type Role } from "./roles.ts";

/** Collections are profiles' names; "all" is not bound to any. */
export type Scope = "all" | readonly string[];

/** Whoever has shown who they are. */
export interface Caller {
  /** Stable and unique: limits are counted by it. */
  readonly id: string;
  /** For people: stands in audit, history and logs. */
  readonly name: string;
  readonly role: Role;
  readonly scope: Scope;
}

export type Allowed = { readonly ok: true } | { readonly ok: false; readonly why: string };

/** Whether the caller's role has a permission, and whether their scope is wide enough for it. */
export function may(caller: Pick<Caller, "role" | "scope">, permission: Permission): Allowed {
  const row = PERMISSIONS[permission];
  if (!row.roles.some((role) => role === caller.role)) {
    return { ok: false, why: `a ${caller.role} may not ${row.means}: that takes ${row.roles.join(" or ")}` };
  }
  if (row.wholeFleet && caller.scope !== "all") {
    return { ok: false, why: `to ${row.means} takes a caller who is not bound to single collections` };
  }
  return { ok: true };
}

export const inScope = (scope: Scope, collection: string): boolean => scope === "all" || scope.includes(collection);
