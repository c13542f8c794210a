/** Whose request it is that came over Bedrock's protocol. */
import { type Authenticator, type Caller, may } from "@sluice/access";
import { type Guesses, stillCheck } from "@sluice/http-api";
import { type Admission, intentOf, type Peer, tenantProblem, type WireRequest } from "@sluice/job-doors";
import { DEFAULT_TENANT, isTenant, STATUS } from "@sluice/job-queue";
import { rightOfVerb, type VerbRight } from "@sluice/wire";

export interface AdmitOptions {
  readonly authenticator: Authenticator;
  /** Only this machine can reach the port: who comes without a token is tenant `default`. */
  readonly isLoopback: boolean;
  readonly guesses: Guesses;
  readonly onRefused: (why: string) => void;
}

const OF_BROWSERS = ["host", "origin", "sec-fetch-site"];

export function admitOnWire({ authenticator, isLoopback, guesses, onRefused }: AdmitOptions) {
  return async ({ verb, headers }: WireRequest, { address }: Pick<Peer, "address">): Promise<Admission> => {
    // The protocol looks like HTTP, so a browser can be made to speak it; no client of it sends these.
    if (OF_BROWSERS.some((name) => headers.has(name)))
      return refused(401, "Unauthorized: this port is not for browsers");
    const tenant = headers.get("tenant") ?? DEFAULT_TENANT;
    if (!isTenant(tenant)) return refused(402, "Malformed tenant");
    const authorization = headers.get("authorization");
    if (authorization === undefined && isLoopback)
      return tenant === DEFAULT_TENANT ? { tenant } : refused(401, "Unauthorized");
    const found = await authenticator.authenticate(authorization);
    if (found.kind === "silence") return refused(503, "Who you are cannot be checked at the moment");
    if (found.kind !== "caller") {
      if (found.kind === "refused") onRefused(found.why);
      if (found.kind === "refused" && guesses.note({ address, tokenId: found.tokenId }) !== null)
        return refused(429, "Too many requests without a valid token");
      return refused(401, "Unauthorized");
    }
    const right = rightOfVerb(verb);
    if (right === null) return { refused: STATUS.unknownVerb };
    if (!mayAsk(found.caller, right, tenant)) return refused(401, "Unauthorized");
    const still = stillCheck(found.caller, () => authenticator.authenticate(authorization));
    return { tenant, caller: found.caller.name, still };
  };
}

/** As over HTTP, save that there is nothing here for callers who may ask for a part of it. */
const mayAsk = (caller: Caller, { permission }: VerbRight, tenant: string): boolean =>
  may(caller, permission).ok && tenantProblem(caller, tenant, intentOf(permission)) === null;

const refused = (code: number, text: string): Admission => ({ refused: { code, text } });
