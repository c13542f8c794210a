/** MINT_URL=noid:NAAN/SHOULDER: the local minter. Nobody else needs to be told of a name. */
import type { Minter } from "./minter.ts";
import { proposeArk, type Shoulder, shoulderOf } from "./propose.ts";

export function noidMinter(fallback: Shoulder): Minter {
  return {
    propose: (profile, wish) => proposeArk(shoulderOf(profile) ?? fallback, wish),
    register: () => Promise.resolve({ kind: "ok" }),
    publish: () => Promise.resolve({ kind: "ok" }),
  };
}
