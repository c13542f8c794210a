/** The identity provider's keys, fetched through the only way out. */
import { isIP } from "node:net";
import { createEgress, type AllowRule, type Egress, PUBLIC_ONLY } from "@sluice/safe-io";
import type { FetchKeys } from "./jwt.ts";
import type { AccessSettings } from "./settings.ts";

const KEYS_MAX_BYTES = 1_000_000;

export interface KeyFetcher {
  readonly fetchKeys: FetchKeys;
  close(): Promise<void>;
}

/** The provider is the operator's own choice: it may stand inside the walls, but only where the settings name it. */
export function openKeyFetcher(settings: Pick<AccessSettings, "OIDC_ISSUER" | "OIDC_JWKS_URL">): KeyFetcher {
  const named = [settings.OIDC_ISSUER, settings.OIDC_JWKS_URL].filter((url) => url !== undefined);
  const egress = createEgress({ policy: { ...PUBLIC_ONLY, allow: named.map(ruleOf) } });
  return { fetchKeys: keysThrough(egress), close: () => egress.close() };
}

function ruleOf(url: string): AllowRule {
  const { hostname, port, protocol } = new URL(url);
  const ports = [port === "" ? (protocol === "https:" ? 443 : 80) : Number(port)];
  const address = hostname.replace(/^\[(.*)\]$/, "$1");
  if (isIP(address) === 0) return { host: hostname, ports };
  return { cidr: `${address}/${isIP(address) === 6 ? 128 : 32}`, ports };
}

/** Throws where nothing came, as fetch does: whoever asks takes that for silence. */
const keysThrough =
  (egress: Egress): FetchKeys =>
  async (url, { headers, signal }) => {
    const answer = await egress.get(url, {
      headers: Object.fromEntries(headers),
      signal,
      maxBytes: KEYS_MAX_BYTES,
      accepts: () => true,
    });
    if (!answer.ok) throw new Error(answer.error.message);
    const body = await answer.value.text();
    if (!body.ok) throw new Error(body.error.message);
    return new Response(body.value, { status: answer.value.status });
  };
