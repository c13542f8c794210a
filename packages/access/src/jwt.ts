/** Callers who come with a JWT of an identity provider (OIDC): signature, issuer, audience and times are checked. */
import { createRemoteJWKSet, customFetch, errors, type JWTVerifyGetKey, jwtVerify } from "jose";
import { z } from "zod";
import type { Caller, Scope } from "./caller.ts";
import { isRole, type Role } from "./roles.ts";
import { defaultStages, defaultTenants, scopeOfNames } from "./token-record.ts";

export interface JwtSettings {
  readonly issuer: string;
  readonly audience: string;
  /** Where the provider's keys are; absent = where its own description says (OIDC discovery). */
  readonly jwksUrl?: string;
  /** The claim that has the role, or a list of roles: the one that may most counts. */
  readonly roleClaim: string;
  /** The claim with the list of collections; without it a caller is bound to none, unless the role is above depositor. */
  readonly collectionsClaim: string;
  /** The claim with the list of the job queue's tenants; without it, all for staff bound to no collections, none for others. */
  readonly tenantsClaim: string;
}

export type FetchKeys = (
  url: string,
  init: { readonly headers: Headers; readonly signal: AbortSignal },
) => Promise<Response>;

export type JwtVerdict =
  | { readonly kind: "caller"; readonly caller: Caller }
  | { readonly kind: "refused"; readonly why: string }
  /** The provider's keys cannot be had just now. */
  | { readonly kind: "silence" };

export interface JwtVerifier {
  verify(token: string, now: Date): Promise<JwtVerdict>;
}

/** Only signatures made with a private key: a shared secret or "none" would let anybody be anyone. */
const ALGORITHMS = ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"];
const CLOCK_TOLERANCE_SECONDS = 30;
const KEYS_TIMEOUT_MS = 5_000;
const DiscoverySchema = z.object({ issuer: z.string(), jwks_uri: z.url() });

export function makeJwtVerifier(settings: JwtSettings, fetchKeys: FetchKeys): JwtVerifier {
  const keySetAt = (url: string): JWTVerifyGetKey =>
    createRemoteJWKSet(new URL(url), {
      timeoutDuration: KEYS_TIMEOUT_MS,
      [customFetch]: (from, init) => fetchKeys(from, { headers: init.headers, signal: init.signal }),
    });
  // Found once; a provider that could not be asked is asked again by the next caller.
  let known = settings.jwksUrl === undefined ? null : keySetAt(settings.jwksUrl);
  return jwtVerifier(settings, async (header, token) => {
    known ??= keySetAt(await discover(settings.issuer, fetchKeys));
    return await known(header, token);
  });
}

/** OpenID Connect Discovery 1.0: the issuer describes itself, and must name itself as we do. */
async function discover(issuer: string, fetchKeys: FetchKeys): Promise<string> {
  const url = `${issuer.replace(/(?<!\/)\/+$/, "")}/.well-known/openid-configuration`;
  const response = await fetchKeys(url, {
    headers: new Headers({ accept: "application/json" }),
    signal: AbortSignal.timeout(KEYS_TIMEOUT_MS),
  });
  const found = DiscoverySchema.safeParse(await response.json());
  if (!found.success || found.data.issuer !== issuer) throw new Error(`${url} does not describe ${issuer}`);
  // Keys that come in the clear could be anybody's.
  if (issuer.startsWith("https:") && !found.data.jwks_uri.startsWith("https:"))
    throw new Error(`${url} names keys that are not behind https`);
  return found.data.jwks_uri;
}

export function jwtVerifier(settings: JwtSettings, keys: JWTVerifyGetKey): JwtVerifier {
  return {
    async verify(token, now) {
      try {
        const { payload } = await jwtVerify(token, keys, {
          issuer: settings.issuer,
          audience: settings.audience,
          algorithms: ALGORITHMS,
          clockTolerance: CLOCK_TOLERANCE_SECONDS,
          requiredClaims: ["sub", "exp"],
          currentDate: now,
        });
        return callerOfClaims(payload, settings);
      } catch (error) {
        return verdictOfError(error);
      }
    },
  };
}

/** What jose throws about the token is the caller's matter; the rest means that the keys could not be had. */
function verdictOfError(error: unknown): JwtVerdict {
  if (error instanceof errors.JWTExpired) return { kind: "refused", why: "the token has expired" };
  if (error instanceof errors.JWTClaimValidationFailed) {
    return { kind: "refused", why: `the token's ${error.claim} is not what it must be` };
  }
  if (error instanceof errors.JWKSTimeout) return { kind: "silence" };
  if (error instanceof errors.JWKSNoMatchingKey)
    return { kind: "refused", why: "the token is signed with an unknown key" };
  const isAboutToken =
    error instanceof errors.JWTInvalid ||
    error instanceof errors.JWSInvalid ||
    error instanceof errors.JOSEAlgNotAllowed;
  if (isAboutToken || error instanceof errors.JWSSignatureVerificationFailed) {
    return { kind: "refused", why: "the token is not valid" };
  }
  return { kind: "silence" };
}

/** Exported for its tests: what claims make of a caller. */
export function callerOfClaims(claims: Readonly<Record<string, unknown>>, settings: JwtSettings): JwtVerdict {
  const subject = claims["sub"];
  if (typeof subject !== "string" || subject === "") return { kind: "refused", why: "the token has no sub" };
  const role = roleOf(claimAt(claims, settings.roleClaim));
  if (role === null) return { kind: "refused", why: `the token's ${settings.roleClaim} names no role of ours` };
  const name = ["preferred_username", "email", "name"].map((key) => claims[key]).find((v) => typeof v === "string");
  const scope = scopeOfClaim(claimAt(claims, settings.collectionsClaim), role);
  const tenants = claimAt(claims, settings.tenantsClaim);
  return {
    kind: "caller",
    caller: {
      id: `jwt:${subject}`,
      name: typeof name === "string" && name !== "" ? name : subject,
      role,
      scope,
      tenants: tenants === undefined ? defaultTenants(role, scope) : scopeOfNames(namesOf(tenants)),
      stages: defaultStages(role, scope),
    },
  };
}

/** `realm_access.roles` is a path: providers like to nest. A claim with a dot in its own name is found too. */
function claimAt(claims: Readonly<Record<string, unknown>>, path: string): unknown {
  if (path in claims) return claims[path];
  let at: unknown = claims;
  for (const key of path.split(".")) {
    if (typeof at !== "object" || at === null || !(key in at)) return undefined;
    at = (at as Readonly<Record<string, unknown>>)[key];
  }
  return at;
}

const MOST_FIRST: readonly Role[] = ["admin", "operator", "viewer", "depositor"];

function roleOf(claim: unknown): Role | null {
  const named = (Array.isArray(claim) ? claim : [claim]).filter(isRole);
  return MOST_FIRST.find((role) => named.includes(role)) ?? null;
}

/** A depositor sees what is named and nothing else; staff see all unless the provider binds them. */
function scopeOfClaim(claim: unknown, role: Role): Scope {
  if (claim === undefined) return role === "depositor" ? [] : "all";
  return scopeOfNames(namesOf(claim));
}

const namesOf = (claim: unknown): string[] =>
  (Array.isArray(claim) ? claim : [claim]).filter((one): one is string => typeof one === "string");
