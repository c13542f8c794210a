/**
 * The object's ARK: given, found by the depositor's own names, or minted. It is written to the job before anything depends
 * on it. Under the object's lock it is judged whether the job may write to the object at all; only then are the depositor's names
 * registered for it, before anything is stored under it: whoever comes next with one of them finds the same object,
 * although nothing is recorded yet.
 */
import { mergeLocalIds } from "@sluice/ingest-formats";
import { fail, snooze } from "@sluice/stage-runtime";
import { modeOf } from "../store-mode.ts";
import { chooseArk, type Chosen } from "./choose-ark.ts";
import { namesComplete } from "./identity-source.ts";
import { inventoryAway } from "./inventory-away.ts";
import { unusableLocalId } from "./local-id.ts";
import { mintNew, mintTrouble, registerArk } from "./mint.ts";
import { type Identity, type Naming, writeDown } from "./naming.ts";
import { judgeOwnership, type Standpoint } from "./ownership.ts";
import { ended, type Step, went } from "./step.ts";

export type Identified = Identity & Standpoint;

export async function identify(naming: Naming): Promise<Step<Identified>> {
  const { ctx, parts, profile, description } = naming;
  const { localIds } = description;
  const unusable = unusableLocalId(localIds);
  if (unusable !== null) return ended(fail("IDENTIFIER_CONFLICT", unusable));
  const locks = localIds.map((localId) => ({ kind: "localid" as const, localId, ownerArk: profile.owner }));
  if (locks.length > 0 && !(await ctx.lockObjects(locks))) {
    return ended(snooze(parts.busyWaitMs, `another job works on the local ids ${localIds.join("; ")}`));
  }
  const chosen = await chooseArk(naming);
  if (!chosen.ok) return chosen;
  return chosen.value === null ? mintAndJudge(naming) : settleOn(naming, chosen.value);
}

async function mintAndJudge(naming: Naming): Promise<Step<Identified>> {
  const minted = await mintNew(naming);
  if (!minted.ok) return minted;
  const judged = await lockAndJudge(naming, minted.value);
  return judged.ok ? registerNames(naming, { ...minted.value, ...judged.value }) : judged;
}

/** An object that is not the profile's is neither asked for its names nor written down as this job's. */
async function settleOn(naming: Naming, chosen: Chosen): Promise<Step<Identified>> {
  const judged = await lockAndJudge(naming, chosen);
  if (!judged.ok) return judged;
  const named = await nameIt(naming, chosen);
  return named.ok ? registerNames(naming, { ...named.value, ...judged.value }) : named;
}

async function lockAndJudge(naming: Naming, chosen: Chosen): Promise<Step<Standpoint>> {
  const { ctx, parts } = naming;
  if (!(await ctx.lockObjects([{ kind: "storage", ark: chosen.ark }]))) {
    return ended(snooze(parts.busyWaitMs, `another job works on ${knownAs(naming, chosen)}`));
  }
  return judgeOwnership(naming, chosen);
}

/** An ARK that was found by local ids may be another collection's: that is judged under the lock, which is not ours yet. */
const knownAs = ({ description }: Naming, { ark, source }: Chosen): string =>
  source === "found" ? `the object of the local ids ${description.localIds.join("; ")}` : ark;

async function nameIt(naming: Naming, chosen: Chosen): Promise<Step<Identity>> {
  const names = await withOldNames(naming, chosen.ark);
  if (!names.ok) return names;
  const written = await writeDown(naming, { ...chosen, localIds: names.value });
  if (!written.ok || chosen.source !== "minted") return written;
  const registered = await registerArk(naming, chosen.ark);
  return registered.kind === "ok" ? written : mintTrouble(registered);
}

/** An update keeps the names that the object has. They are looked up once: a re-run must say what the first run said. */
async function withOldNames(
  { job, ctx, parts, profile, description }: Naming,
  ark: string,
): Promise<Step<readonly string[]>> {
  const { localIds } = description;
  if (modeOf(job) === "add" || namesComplete(job.identifiers, ark)) return went(localIds);
  const old = await parts.localIds.localIdsOf(profile.owner, ark);
  if (old.kind === "unavailable") return inventoryAway(ctx, parts, old.message);
  const names = mergeLocalIds(localIds, old.localIds);
  const unusable = unusableLocalId(names);
  return unusable === null ? went(names) : ended(fail("IDENTIFIER_CONFLICT", unusable));
}

async function registerNames({ ctx, parts, profile }: Naming, identity: Identified): Promise<Step<Identified>> {
  const { ark, localIds, source } = identity;
  if (localIds.length === 0) return went(identity);
  const created = new Date(ctx.clock.nowMs()).toISOString();
  const answer = await parts.localIds.registerLocalIds({ ownerArk: profile.owner, ark, localIds, created });
  await ctx.failpoint("afterNames");
  switch (answer.kind) {
    case "registered":
      return went(identity);
    case "unavailable":
      return inventoryAway(ctx, parts, answer.message);
    case "refused":
      return ended(fail("RECORD_FAILED", `the inventory refuses the local ids: ${answer.message}`));
    case "conflict":
      // Somebody without our locks was faster. A name of our own that nothing depends on yet gives way, in the next run.
      ctx.log.warn({ why: answer.message }, "a local id of a job is another object's");
      return source === "minted"
        ? ended(snooze(parts.busyWaitMs, taken(answer.localIds, ark)))
        : ended(fail("IDENTIFIER_CONFLICT", taken(answer.localIds, ark)));
  }
}

const taken = (localIds: readonly string[], ark: string): string =>
  `the local id ${localIds.join("; ")} is that of another object, not of ${ark}`;
