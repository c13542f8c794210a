import { TokenSchema } from "@sluice/queue-core";
import { z } from "zod";
import type { Scope } from "./caller.ts";
import { type Role, ROLES } from "./roles.ts";

/** A token as it is kept, in the tree or in a file: enough to check one, nothing to make one from. */
export const TokenRecordSchema = TokenSchema.extend({ role: z.enum(ROLES) });
export type TokenRecord = z.infer<typeof TokenRecordSchema>;

const EVERYTHING = "*";
export const EVERY_COLLECTION = EVERYTHING;
export const EVERY_TENANT = EVERYTHING;
export const EVERY_STAGE = EVERYTHING;

export const scopeOf = ({ collections }: Pick<TokenRecord, "collections">): Scope => scopeOfNames(collections);

/** Of the job queue. Where nothing is said, staff that are bound to no collections are bound to no tenants either. */
export function tenantsOf({ tenants, role, collections }: TenantFacts): Scope {
  return tenants === undefined ? defaultTenants(role, scopeOf({ collections })) : scopeOfNames(tenants);
}

type TenantFacts = Pick<TokenRecord, "tenants" | "role" | "collections">;

/** Where the fleet's own jobs are. */
const FLEETS_TENANT = "system";
const STAFF: readonly Role[] = ["viewer", "operator", "admin", "runner"];

export function defaultTenants(role: Role, scope: Scope): Scope {
  if (role === "scheduler") return [FLEETS_TENANT];
  return STAFF.includes(role) && scope === "all" ? "all" : [];
}

/** Whose jobs may be worked through the stage API. Nobody has a stage who was not given one, but admins of everything. */
export const stagesOf = ({ stages, role, collections }: Pick<TokenRecord, "stages" | "role" | "collections">): Scope =>
  stages === undefined ? defaultStages(role, scopeOf({ collections })) : scopeOfNames(stages);

export const defaultStages = (role: Role, scope: Scope): Scope => (role === "admin" && scope === "all" ? "all" : []);

/** Exported for claims, which say the same. */
export const scopeOfNames = (names: readonly string[]): Scope => (names.includes(EVERYTHING) ? "all" : names);
