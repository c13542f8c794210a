/** From the Authorization header to a caller. Says why not in words that help the honest and tell the others nothing. */
import type { Caller } from "./caller.ts";
import type { JwtVerifier } from "./jwt.ts";
import { parseToken, secretMatches } from "./token.ts";
import { scopeOf, stagesOf, tenantsOf, type TokenRecord } from "./token-record.ts";
import type { TokenSource } from "./token-source.ts";

export type Authentication =
  | { readonly kind: "caller"; readonly caller: Caller }
  /** No credentials were given. */
  | { readonly kind: "anonymous" }
  /** `tokenId`: the public part of what was shown, if it had a token's form. */
  | { readonly kind: "refused"; readonly why: string; readonly tokenId?: string }
  /** It cannot be checked just now: neither tree nor provider answers. */
  | { readonly kind: "silence" };

export interface Authenticator {
  /** `header`: the whole value of Authorization. */
  authenticate(header: string | undefined): Promise<Authentication>;
}

/** For what is done in somebody's name while they are not there. */
export interface CallerLookup {
  /** Who has this id now; refused when their token is revoked or has expired, and of a provider's callers always. */
  callerById(id: string): Promise<Authentication>;
}

export interface AuthenticatorParts {
  readonly tokens: TokenSource;
  /** null: no identity provider is configured. */
  readonly jwt: JwtVerifier | null;
  readonly nowMs: () => number;
  /** Also `Basic`, with the token as password: for clients that know nothing else. */
  readonly basic?: boolean;
}

const BEARER = /^Bearer +([A-Za-z0-9._~+/=-]{1,8192})$/i;
const BASIC = /^Basic +([A-Za-z0-9+/=]{1,12000})$/i;
const UNKNOWN = "the token is unknown, revoked or mistyped";

export function makeAuthenticator({
  tokens,
  jwt,
  nowMs,
  basic = false,
}: AuthenticatorParts): Authenticator & CallerLookup {
  return {
    callerById: (id) => lookUp(tokens, id, nowMs()),
    async authenticate(header) {
      if (header === undefined || header === "") return { kind: "anonymous" };
      const credentials = BEARER.exec(header)?.[1] ?? (basic ? passwordOf(header) : undefined);
      if (credentials === undefined) {
        const forms = basic
          ? "`Authorization: Bearer TOKEN`, or Basic with the token as password,"
          : "`Authorization: Bearer TOKEN`";
        return { kind: "refused", why: `only ${forms} is understood` };
      }
      const token = parseToken(credentials);
      if (token !== null) return await checkToken(tokens, token, nowMs());
      if (jwt !== null && credentials.split(".").length === 3) return await jwt.verify(credentials, new Date(nowMs()));
      return { kind: "refused", why: UNKNOWN };
    },
  };
}

/** RFC 7617. The user's name says nothing: the token does. */
function passwordOf(header: string): string | undefined {
  const encoded = BASIC.exec(header)?.[1];
  if (encoded === undefined) return undefined;
  const [, password] = /^[^:]*:(.*)$/s.exec(Buffer.from(encoded, "base64").toString("utf8")) ?? [];
  return password;
}

async function checkToken(
  tokens: TokenSource,
  { id, secret }: { readonly id: string; readonly secret: string },
  nowMs: number,
): Promise<Authentication> {
  const found = await tokens.find(id);
  if (found === "silence") return { kind: "silence" };
  if (found === "none" || found === "revoked" || !secretMatches(secret, found.hash))
    return { kind: "refused", why: UNKNOWN, tokenId: id };
  if (Date.parse(found.expires) <= nowMs) return { kind: "refused", why: `the token expired at ${found.expires}` };
  return { kind: "caller", caller: callerOfToken(`token:${id}`, found) };
}

const OF_TOKENS = "token:";

/** Whether a token has an id like this one at all can be told; whether a provider still knows its caller cannot. */
export const canBeLookedUp = (callerId: string): boolean => callerId.startsWith(OF_TOKENS);

async function lookUp(tokens: TokenSource, callerId: string, nowMs: number): Promise<Authentication> {
  if (!canBeLookedUp(callerId)) return { kind: "refused", why: "only callers with a token can be looked up" };
  const found = await tokens.find(callerId.slice(OF_TOKENS.length));
  if (found === "silence") return { kind: "silence" };
  if (typeof found === "string") return { kind: "refused", why: "their token was revoked" };
  if (Date.parse(found.expires) <= nowMs) return { kind: "refused", why: `their token expired at ${found.expires}` };
  return { kind: "caller", caller: callerOfToken(callerId, found) };
}

const callerOfToken = (id: string, found: TokenRecord): Caller => ({
  id,
  name: found.name,
  role: found.role,
  scope: scopeOf(found),
  tenants: tenantsOf(found),
  stages: stagesOf(found),
});
