/** Names that nobody can guess before their job is made, with NOID's check character. */
import { describeProblem, mintNoidArk, noidCapacity, type Profile } from "@sluice/ingest-formats";
import { createHash } from "node:crypto";
import type { NameWish, Proposed } from "./minter.ts";

export interface Shoulder {
  readonly naan: string;
  readonly shoulder: string;
}

/** 29¹² names: among a million random ones, the chance that two are the same is one in a million. */
const MASK = "eeeeeeeeeeee";

/** From a digest of the job's name, of which 62 bits are a digest themselves: nothing has to be counted or kept. */
export function proposeArk(shoulder: Shoulder, { job, taken }: NameWish): Proposed {
  const digest = createHash("sha256").update(`ark/${job}/${taken}`).digest("hex");
  const number = BigInt(`0x${digest.slice(0, 32)}`) % noidCapacity(MASK);
  const ark = mintNoidArk({ ...shoulder, mask: MASK }, number);
  if (ark.ok) return { ok: true, ark: ark.value };
  return { ok: false, message: ark.problems.map(describeProblem).join("; ") };
}

/** The profile's minter address ends in its shoulder: `…/shoulder/ark:/99999/fk4`. */
export function shoulderOf({ objectMinterUrl }: Profile): Shoulder | null {
  return parseShoulder(/\/shoulder\/(ark:.+)$/.exec(objectMinterUrl ?? "")?.[1] ?? "");
}

/** `99999/fk4`, with or without `ark:/`. */
export function parseShoulder(text: string): Shoulder | null {
  const [, naan, shoulder] = /^(?:ark:\/?)?([0-9a-z]{5})\/([0-9a-z]{1,16})$/.exec(text) ?? [];
  return naan === undefined || shoulder === undefined ? null : { naan, shoulder };
}
