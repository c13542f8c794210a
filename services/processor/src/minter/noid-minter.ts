/** MINT_URL=noid:NAAN/SHOULDER: the local minter. Nobody else needs to be told of a name. */
import type { Minter } from "./minter.ts";
import { proposeArk, type RandomBytes, type Shoulder, shoulderOf } from "./propose.ts";

export function noidMinter(fallback: Shoulder, randomBytes: RandomBytes): Minter {
  return {
    propose: (profile) => proposeArk(shoulderOf(profile) ?? fallback, randomBytes),
    register: () => Promise.resolve({ kind: "ok" }),
    publish: () => Promise.resolve({ kind: "ok" }),
  };
}
