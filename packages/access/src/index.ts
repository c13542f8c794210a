export {
  isRole,
  PEOPLES_ROLES,
  PERMISSIONS,
  type Permission,
  type Role,
  ROLES,
  SERVICES_ROLES,
  WORKERS_ROLES,
} from "./roles.ts";
export { type Allowed, type Caller, inScope, may, type Scope } from "./caller.ts";
export { mintRoleTokens, type RoleTokens, type RoleTokensOptions } from "./role-tokens.ts";
export { hashSecret, type MintedToken, mintToken, parseToken, type PresentedToken, redactTokens } from "./token.ts";
export {
  EVERY_COLLECTION,
  EVERY_STAGE,
  EVERY_TENANT,
  scopeOf,
  stagesOf,
  tenantsOf,
  type TokenRecord,
  TokenRecordSchema,
} from "./token-record.ts";
export { makeTreeTokens, type TreeTokensOptions } from "./tree-tokens.ts";
export { firstOf, type FoundToken, type TokenSource } from "./token-source.ts";
export { ENDING_SOON_MS, endingTokens, type EndingToken } from "./ending-tokens.ts";
export {
  openTokenFile,
  type ParsedTokenFile,
  parseTokenFile,
  printTokenFile,
  type TokenFile,
  type TokenFileOptions,
} from "./token-file.ts";
export {
  type FetchKeys,
  type JwtSettings,
  type JwtVerdict,
  type JwtVerifier,
  jwtVerifier,
  makeJwtVerifier,
} from "./jwt.ts";
export {
  type Authentication,
  type Authenticator,
  type AuthenticatorParts,
  type CallerLookup,
  canBeLookedUp,
  makeAuthenticator,
} from "./authenticate.ts";
// For those who serve callers and know no ZooKeeper.
export { isLoopback, isThisMachine } from "@sluice/zookeeper";
export { ACCESS_FIELDS, ACCESS_RELATIONS, type AccessSettings } from "./settings.ts";
export { type KeyFetcher, openKeyFetcher } from "./fetch-keys.ts";
export { type AccessParts, ANYBODY, openAccess } from "./open-access.ts";
