import type { Role } from "@sluice/access";
import type { Scope } from "./apis.ts";
import type { Right } from "./table.ts";

/** Whether the table lets a caller of this role and scope pass. */
export function isLetIn({ roles, bound, foreign }: Right, role: Role, scope: Scope): boolean {
  if (!roles.includes(role)) return false;
  return scope === "all" || (bound && (scope === "own" || foreign !== "refused"));
}
