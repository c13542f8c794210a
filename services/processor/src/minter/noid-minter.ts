/** The local minter: names that nobody can guess the next of, with NOID's check character. */
import { describeProblem, mintNoidArk, noidCapacity, type Profile } from "@sluice/ingest-formats";
import type { Minter } from "../parts.ts";

export interface Shoulder {
  readonly naan: string;
  readonly shoulder: string;
}

/** 29¹² names: among a million random ones, the chance that two are the same is one in a million. */
const MASK = "eeeeeeeeeeee";

/** `randomBytes` must be cryptographic: names are not counted, so that nothing has to be kept. */
export function noidMinter(fallback: Shoulder, randomBytes: (size: number) => Buffer): Minter {
  return {
    mint: (profile) => {
      const number = BigInt(`0x${randomBytes(16).toString("hex")}`) % noidCapacity(MASK);
      const ark = mintNoidArk({ ...(shoulderOf(profile) ?? fallback), mask: MASK }, number);
      return Promise.resolve(
        ark.ok
          ? { kind: "minted", ark: ark.value }
          : { kind: "refused", message: ark.problems.map(describeProblem).join("; ") },
      );
    },
  };
}

/** The profile's minter address ends in its shoulder: `…/shoulder/ark:/99999/fk4`. */
function shoulderOf({ objectMinterUrl }: Profile): Shoulder | null {
  return parseShoulder(/\/shoulder\/(ark:.+)$/.exec(objectMinterUrl ?? "")?.[1] ?? "");
}

/** `99999/fk4`, with or without `ark:/`. */
export function parseShoulder(text: string): Shoulder | null {
  const [, naan, shoulder] = /^(?:ark:\/?)?([0-9a-z]{5})\/([0-9a-z]{1,16})$/.exec(text) ?? [];
  return naan === undefined || shoulder === undefined ? null : { naan, shoulder };
}
