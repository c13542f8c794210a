/** A new ARK, in the job before the minter hears of it: whoever comes after us registers the same one. */
import { fail, retry } from "@sluice/stage-runtime";
import type { MintAnswer, MintRequest } from "../minter/minter.ts";
import { type Identity, type Naming, writeDown } from "./naming.ts";
import { ended, type Step } from "./step.ts";

/** How often a proposed name may turn out to be another's before something is wrong with the minter. */
const NAMES_MAX = 3;

export async function mintNew(naming: Naming): Promise<Step<Identity>> {
  const { job, parts, profile, description } = naming;
  let taken = "";
  for (let names = 0; names < NAMES_MAX; names += 1) {
    const proposed = parts.minter.propose(profile, { job: job.uuid, taken: names });
    if (!proposed.ok) return ended(fail("MINT_FAILED", proposed.message));
    const { ark } = proposed;
    const written = await writeDown(naming, { ark, source: "minted", fresh: true, localIds: description.localIds });
    if (!written.ok) return written;
    const registered = await registerArk(naming, ark);
    if (registered.kind === "ok") return written;
    if (registered.kind !== "taken") return mintTrouble(registered);
    taken = registered.message;
  }
  return ended(fail("MINT_FAILED", taken));
}

export async function registerArk(naming: Naming, ark: string): Promise<MintAnswer> {
  const { ctx, parts } = naming;
  const answer = await parts.minter.register(mintRequest(naming, ark));
  await ctx.failpoint("afterMint");
  if (answer.kind === "taken") ctx.log.warn({ ark }, "a proposed name is another's");
  return answer;
}

export function mintRequest({ job, ctx, profile, description }: Naming, ark: string): MintRequest {
  const { who, what, when, localIds } = description;
  const retainTarget = String(job.configuration["retainTargetURL"]).toLowerCase() === "true";
  return { profile, ark, job: job.uuid, who, what, when, localIds, retainTarget, signal: ctx.signal };
}

export function mintTrouble(answer: Exclude<MintAnswer, { kind: "ok" }>) {
  const passing = answer.kind === "unavailable";
  return ended(passing ? retry("MINT_FAILED", answer.message) : fail("MINT_FAILED", answer.message));
}
