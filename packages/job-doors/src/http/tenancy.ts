/** Whose jobs a caller may see and touch. */
import { type Caller, inScope, may, type Permission } from "@sluice/access";
import { type Problem, problem } from "@sluice/http-api";
import { SYSTEM_TENANT } from "@sluice/job-queue";

export type Intent = "look" | "act";

/** Of what takes this permission: only those who see are known to change nothing. */
export const intentOf = (permission: Permission): Intent => (permission === "see-jobs" ? "look" : "act");

/** Null: they may. The fleet's own jobs are seen by those who see all tenants, and touched by few. */
export function tenantProblem(
  caller: Pick<Caller, "role" | "scope" | "tenants">,
  tenant: string,
  intent: Intent,
): Problem | null {
  if (!inScope(caller.tenants, tenant)) return problem("FORBIDDEN", `${tenant} is no tenant of yours`);
  if (tenant !== SYSTEM_TENANT || intent === "look") return null;
  const allowed = may(caller, "act-on-fleet-jobs");
  return allowed.ok ? null : problem("FORBIDDEN", allowed.why);
}
