/** The authenticator that the settings ask for. */
import type { Session } from "@sluice/zookeeper";
import { type Authentication, type Authenticator, type CallerLookup, makeAuthenticator } from "./authenticate.ts";
import type { Caller } from "./caller.ts";
import { type FetchKeys, makeJwtVerifier } from "./jwt.ts";
import type { AccessSettings } from "./settings.ts";
import { openTokenFile } from "./token-file.ts";
import { firstOf } from "./token-source.ts";
import { makeTreeTokens } from "./tree-tokens.ts";

export interface AccessParts {
  readonly settings: AccessSettings;
  readonly session: () => Session | null;
  readonly clock: { readonly nowMs: () => number; readonly monotonicMs: () => number };
  /** Fetches the keys of the identity provider. */
  readonly fetchKeys: FetchKeys;
  readonly onProblem: (problem: string) => void;
  /** See `AuthenticatorParts`. */
  readonly basic?: boolean;
}

/** Whoever asks while authentication is off: only ever on a loopback address, never in production. */
export const ANYBODY: Caller = {
  id: "anybody",
  name: "anybody on this machine",
  role: "admin",
  scope: "all",
  tenants: "all",
  stages: "all",
};

export function openAccess({
  settings,
  session,
  clock,
  fetchKeys,
  onProblem,
  basic = false,
}: AccessParts): Authenticator & CallerLookup {
  if (settings.AUTH === "off") return { authenticate: anybody, callerById: anybody };
  const tree = makeTreeTokens({
    session,
    monotonicMs: clock.monotonicMs,
    staleMaxMs: settings.TOKENS_STALE_MAX_MS,
  });
  const file = settings.AUTH_TOKENS_FILE === undefined ? [] : [openTokenFile(settings.AUTH_TOKENS_FILE, { onProblem })];
  const jwt = jwtOf(settings, fetchKeys);
  return makeAuthenticator({ tokens: firstOf([...file, tree]), jwt, nowMs: clock.nowMs, basic });
}

const anybody = (): Promise<Authentication> => Promise.resolve({ kind: "caller", caller: ANYBODY });

function jwtOf(settings: AccessSettings, fetchKeys: FetchKeys) {
  const { OIDC_ISSUER: issuer } = settings;
  if (issuer === undefined) return null;
  return makeJwtVerifier(
    {
      issuer,
      audience: settings.OIDC_AUDIENCE,
      ...(settings.OIDC_JWKS_URL === undefined ? {} : { jwksUrl: settings.OIDC_JWKS_URL }),
      roleClaim: settings.OIDC_ROLE_CLAIM,
      collectionsClaim: settings.OIDC_COLLECTIONS_CLAIM,
      tenantsClaim: settings.OIDC_TENANTS_CLAIM,
    },
    fetchKeys,
  );
}
