import type { Egress } from "@sluice/safe-io";

import type { EzidAccount } from "./ezid-client.ts";
import { ezidMinter, type EzidUrl } from "./ezid-minter.ts";
import type { Minter } from "./minter.ts";
import { noidMinter } from "./noid-minter.ts";
import { parseShoulder, type Shoulder } from "./propose.ts";
import { realWait } from "../wait.ts";

export interface NoidUrl {
  readonly kind: "noid";
  readonly shoulder: Shoulder;
}
export type MintUrl = NoidUrl | EzidUrl;

export const MINT_URL_FORMS = "noid:NAAN/SHOULDER, or https://HOST/shoulder/ark:/NAAN/SHOULDER of an EZID service";

export function parseMintUrl(text: string): MintUrl | null {
  const [, base, name] = /^(?:noid:|(https?:\/\/.+)\/shoulder\/)(.+)$/.exec(text) ?? [];
  const shoulder = parseShoulder(name ?? "");
  if (shoulder === null) return null;
  if (base === undefined) return { kind: "noid", shoulder };
  return URL.canParse(base) && new URL(base).username === "" ? { kind: "ezid", base, shoulder } : null;
}

/** `USER:PASSWORD`. */
export function parseAccount(text: string): EzidAccount | null {
  const [, user, password] = /^([^:]+):(.+)$/.exec(text) ?? [];
  return user === undefined || password === undefined ? null : { user, password };
}

export interface MinterOptions {
  readonly egress: Egress;
  readonly account: EzidAccount | undefined;
  readonly target: string | undefined;
}

export function openMinter(url: MintUrl, { egress, account, target }: MinterOptions): Minter {
  if (url.kind === "noid") return noidMinter(url.shoulder);
  if (account === undefined) throw new Error("an EZID service needs an account");
  return ezidMinter({ url, egress, account, target, wait: realWait });
}
