/** Which ARK it is, as far as anybody knows: the job, the depositor, the inventory. */
import { describeProblem, parseObjectArk, printArk } from "@sluice/ingest-formats";
import type { Job } from "@sluice/queue-core";
import { fail, retry } from "@sluice/stage-runtime";
import type { Identity, Naming } from "./naming.ts";
import { sourceOfBefore } from "./identity-source.ts";
import { inventoryAway } from "./inventory-away.ts";
import { ended, type Step, went } from "./step.ts";

export type Chosen = Omit<Identity, "localIds">;

/** Null: nobody has a name for it yet. */
export async function chooseArk(naming: Naming): Promise<Step<Chosen | null>> {
  const { job, description } = naming;
  const known = knownArk(job, description.primaryId);
  if (!known.ok) return known;
  const found = await findByLocalIds(naming);
  if (!found.ok || known.value === null) return found;
  if (found.value === null) return known;
  // From then on others may store under it.
  if (found.value.ark === known.value.ark) return went({ ...known.value, fresh: false });
  return known.value.source === "minted"
    ? giveWay(naming, known.value, found.value)
    : conflict(naming, known.value, found.value);
}

/** What an earlier run wrote down, or the depositor's own. */
function knownArk({ identifiers }: Job, primaryId: string | undefined): Step<Chosen | null> {
  const before = sourceOfBefore(identifiers);
  if (before !== null && identifiers?.primary_id != null)
    return went({ ark: identifiers.primary_id, source: before, fresh: before === "minted" });
  if (primaryId === undefined) return went(null);
  const ark = parseObjectArk(primaryId);
  if (!ark.ok)
    return ended(
      fail("IDENTIFIER_CONFLICT", `the primary identifier: ${ark.problems.map(describeProblem).join("; ")}`),
    );
  return went({ ark: printArk(ark.value), source: "supplied", fresh: false });
}

async function findByLocalIds({ ctx, parts, profile, description }: Naming): Promise<Step<Chosen | null>> {
  const { localIds } = description;
  if (localIds.length === 0) return went(null);
  const answer = await parts.localIds.findLocalIds(profile.owner, localIds);
  switch (answer.kind) {
    case "none":
      return went(null);
    case "found":
      return went({ ark: answer.ark, source: "found", fresh: false });
    case "conflict":
      ctx.log.warn({ why: answer.message }, "the local ids of a job name several objects");
      return ended(fail("IDENTIFIER_CONFLICT", `the local ids ${answer.localIds.join("; ")} name several objects`));
    case "unavailable":
      return inventoryAway(ctx, parts, answer.message);
  }
}

/**
 * The run that minted ended before it had registered the names, and another job was faster. If nothing is stored under our
 * ARK, nobody has heard of it: the job is for the object that the names stand for now.
 */
async function giveWay(naming: Naming, own: Chosen, found: Chosen): Promise<Step<Chosen>> {
  const { ctx, parts, profile } = naming;
  const holding = await parts.store.holds({ ark: own.ark, node: profile.storageNode }, ctx.signal);
  if (holding.kind === "unavailable") return ended(retry("STORE_FAILED", holding.message));
  if (holding.kind === "there") return conflict(naming, own, found);
  ctx.log.warn({ unused: own.ark, ark: found.ark }, "another job registered the local ids: its object is this one's");
  return went(found);
}

/** The object that the names stand for may be another collection's: the depositor is told what they gave, and no more. */
function conflict({ ctx, description }: Naming, known: Chosen, found: Chosen) {
  ctx.log.warn({ ark: known.ark, found: found.ark }, "the local ids of a job name another object than its ARK");
  const names = `one of the local ids ${description.localIds.join("; ")} names another object`;
  return ended(fail("IDENTIFIER_CONFLICT", `${names}, and the job is for ${known.ark}`));
}
