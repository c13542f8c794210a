/** A token for each role, for a fleet of one's own: the tokens to give away, and the file that services read. */
import { mintToken } from "./token.ts";
import { printTokenFile } from "./token-file.ts";
import { EVERY_COLLECTION, EVERY_STAGE, EVERY_TENANT, type TokenRecord } from "./token-record.ts";
import { PEOPLES_ROLES, type Role, ROLES } from "./roles.ts";

/** Where jobs go that name no tenant. */
const DEPOSITORS_TENANT = "default";

type Bounds = Pick<TokenRecord, "collections" | "tenants" | "stages">;

/** Services have what their role says. */
function boundsOf(role: Role, depositorsCollection: string): Bounds {
  if (role === "worker") return { collections: [], stages: [EVERY_STAGE] };
  if (role === "depositor") return { collections: [depositorsCollection], tenants: [DEPOSITORS_TENANT] };
  const isPeoples = PEOPLES_ROLES.some((each) => each === role);
  return { collections: [EVERY_COLLECTION], ...(isPeoples ? { tenants: [EVERY_TENANT] } : {}) };
}

export type RoleTokens = Readonly<Record<Role, string>>;

export interface RoleTokensOptions {
  /** What the depositor may deposit in. */
  readonly depositorsCollection: string;
  readonly createdBy: string;
  readonly nowMs: number;
  readonly lifeMs: number;
  readonly random: (bytes: number) => Buffer;
}

export function mintRoleTokens(options: RoleTokensOptions): { readonly tokens: RoleTokens; readonly file: string } {
  const { depositorsCollection, createdBy, nowMs, lifeMs, random } = options;
  const made = ROLES.map((role) => {
    const { id, token, hash } = mintToken(random);
    const record: TokenRecord = {
      id,
      name: `development ${role}`,
      role,
      ...boundsOf(role, depositorsCollection),
      hash,
      created: new Date(nowMs).toISOString(),
      created_by: createdBy,
      expires: new Date(nowMs + lifeMs).toISOString(),
    };
    return { role, token, record };
  });
  return {
    tokens: Object.fromEntries(made.map(({ role, token }) => [role, token])) as Record<Role, string>,
    file: printTokenFile(made.map(({ record }) => record)),
  };
}
