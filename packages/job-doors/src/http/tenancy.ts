/** Whose jobs a caller may see and touch. */
import { type Caller, inScope } from "@sluice/access";
import { type Problem, problem } from "@sluice/http-api";
import { SYSTEM_TENANT } from "@sluice/job-queue";

export type Intent = "look" | "act";

/** Null: they may. The fleet's own jobs are seen by those who see all tenants, and touched by admins alone. */
export function tenantProblem(
  { role, tenants }: Pick<Caller, "role" | "tenants">,
  tenant: string,
  intent: Intent,
): Problem | null {
  if (!inScope(tenants, tenant)) return problem("FORBIDDEN", `${tenant} is no tenant of yours`);
  if (tenant === SYSTEM_TENANT && intent === "act" && role !== "admin")
    return problem("FORBIDDEN", "the jobs of the fleet itself are for admins");
  return null;
}
