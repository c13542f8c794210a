/**
 * Whether this job may write to the object that its ARK names. It is asked under the object's lock, before anything is written for
 * it: local ids of the job, and what the job is told of the object's own, included.
 */
import { type Belonging, collectionsOfNext, mayChange } from "@sluice/ingest-formats";
import { fail, retry } from "@sluice/stage-runtime";
import type { Standing } from "../store/object-store.ts";
import type { Chosen } from "./choose-ark.ts";
import { inventoryAway } from "./inventory-away.ts";
import type { Naming } from "./naming.ts";
import { ended, type Step, went } from "./step.ts";

/** What is known of an object to which this job may write. */
export interface Standpoint {
  /** The newest version that was judged; 0 if there is none. */
  readonly judged: number;
  /** Of the version that this job makes. */
  readonly collections: readonly string[];
}

type There = Extract<Standing, { kind: "absent" | "there" }>;

export async function judgeOwnership(naming: Naming, chosen: Chosen): Promise<Step<Standpoint>> {
  const { ctx, parts, profile } = naming;
  const standing = await parts.store.look({ ark: chosen.ark, node: profile.storageNode }, ctx.signal);
  if (standing.kind === "unavailable") return ended(retry("STORE_FAILED", standing.message));
  if (standing.kind === "refused") return ended(fail("STORE_FAILED", standing.message));
  const recorded = await recordedBelonging(naming, chosen);
  return recorded.ok ? judge(naming, chosen, standing, recorded.value) : recorded;
}

/** A name that nobody else can know has no record; null also if there is none. */
async function recordedBelonging({ ctx, parts }: Naming, { ark, fresh }: Chosen): Promise<Step<Belonging | null>> {
  if (fresh) return went(null);
  const answer = await parts.localIds.belongingOf(ark);
  if (answer.kind === "unavailable") return inventoryAway(ctx, parts, answer.message);
  return went(answer.kind === "found" ? answer.value : null);
}

/** The record counts. What is stored without one yet is judged by what the store knows. */
function judge(naming: Naming, chosen: Chosen, standing: There, recorded: Belonging | null): Step<Standpoint> {
  const { profile } = naming;
  const judged = standing.kind === "there" ? standing.version : 0;
  const stored = standing.kind === "there" ? standing.belongs : null;
  const belongs = recorded ?? stored;
  if (belongs === null && standing.kind === "there") return unowned(chosen);
  if (belongs !== null && !mayChange(profile, belongs)) return notYours(naming, chosen, belongs);
  const object = belongs === null ? null : withCollectionsOf(belongs, stored);
  return went({ judged, collections: collectionsOfNext(profile, object) });
}

/** The newest version may say more than the record, which comes later. */
const withCollectionsOf = (belongs: Belonging, stored: Belonging | null): Belonging => ({
  ...belongs,
  collections: [...new Set([...belongs.collections, ...(stored?.collections ?? [])])],
});

const unowned = ({ ark }: Chosen) =>
  ended(
    fail(
      "COLLECTION_MISMATCH",
      `the store has ${ark}, but neither the inventory nor the store says to which owner and collection it belongs: record it first`,
    ),
  );

/** The depositor learns that the object is not the profile's, and nothing about it. The operator finds whose it is in the log. */
function notYours({ ctx, profile, description }: Naming, chosen: Chosen, belongs: Belonging) {
  ctx.log.warn({ ark: chosen.ark, profile: profile.profileId, ...belongs }, "an object of another collection");
  return ended(foreign(profile.profileId, chosen, description.localIds));
}

export const foreign = (profileId: string, { ark, source }: Chosen, localIds: readonly string[]) => {
  const named =
    source === "found" && localIds.length > 0 ? `one of the local ids ${localIds.join("; ")} names` : `${ark} is`;
  return fail("COLLECTION_MISMATCH", `${named} an object that profile ${profileId} may not change`);
};
