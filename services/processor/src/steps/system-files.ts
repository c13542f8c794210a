/** The texts that Merritt adds to every object. Pure: the same facts, the same bytes. */
import {
  type IngestFile,
  mergeLocalIds,
  parseLocalIds,
  printDublinCore,
  printErc,
  printIngestFile,
  printLocalIds,
  printMembership,
  printMom,
  printOwner,
  type Profile,
} from "@sluice/ingest-formats";
import type { Job } from "@sluice/queue-core";
import type { Description } from "./description.ts";
import type { Identified } from "./identity.ts";
import type { Identity } from "./naming.ts";

export interface ObjectFacts {
  readonly job: Job;
  readonly profile: Profile;
  readonly description: Description;
  readonly identity: Identified;
  readonly storageService: string;
  /** RFC 3339. */
  readonly submitted: string;
  /** The payload is an object manifest: it is kept beside these files, as it was deposited. */
  readonly hasManifest: boolean;
  /** mrt-delete.txt of an update; null if there is none. */
  readonly deleteList: string | null;
}

export interface SystemFile {
  readonly name: string;
  readonly data: Buffer;
}

export function systemFiles(facts: ObjectFacts): SystemFile[] {
  const { profile, description, identity } = facts;
  const { ark, localIds } = identity;
  const { primaryId: _given, dublinCore: _more, ...erc } = description;
  const texts: Record<string, string> = {
    "mrt-ingest.txt": printIngestFile(ingestFile(facts)),
    "mrt-mom.txt": printMom({
      type: profile.objectType,
      role: profile.objectRole,
      ...(profile.aggregateType === undefined ? {} : { aggregate: profile.aggregateType }),
      primaryId: ark,
      localIds,
    }),
    "mrt-owner.txt": printOwner(profile.owner),
    "mrt-membership.txt": printMembership(identity.collections),
    "mrt-erc.txt": printErc({ ...erc, primaryId: ark, localIds }),
    "mrt-dc.xml": dublinCore(facts),
    ...(facts.deleteList === null ? {} : { "mrt-delete.txt": facts.deleteList }),
  };
  return Object.entries(texts).map(([name, text]) => ({ name, data: Buffer.from(text) }));
}

/** What the producer's and the form's elements leave open is filled in. */
function dublinCore({ profile, description, identity: { ark, localIds } }: ObjectFacts): string {
  const names = profile.suppressDublinCoreLocalId ? [ark] : [ark, ...localIds];
  const { dublinCore: given, who, what, when } = description;
  return printDublinCore({
    ...(who === undefined ? {} : { creator: who }),
    ...(what === undefined ? {} : { title: what }),
    ...(when === undefined ? {} : { date: when }),
    ...given,
    identifier: mergeLocalIds(names, parseLocalIds(given.identifier ?? "")).join(";"),
  });
}

function ingestFile(facts: ObjectFacts): IngestFile {
  const { job, profile, description, identity } = facts;
  const { configuration } = job;
  const values: Partial<Record<keyof IngestFile, string | undefined>> = {
    ingest: "Sluice",
    submissionDate: facts.submitted,
    batch: job.batchId,
    job: job.uuid,
    userAgent: configuration.submitter,
    file: configuration.payload_name,
    type: configuration.payload_type,
    profile: configuration.profile_name,
    collection: profile.collections[0],
    storageService: facts.storageService,
    storageNode: profile.storageNode?.toString(),
    notification: profile.notificationTo.join(","),
    digestType: configuration.digest_type,
    digestValue: configuration.digest_value,
    creator: description.who,
    title: description.what,
    date: description.when,
    localIdentifier: printLocalIds(identity.localIds),
    manifestValidity: facts.hasManifest ? "valid" : undefined,
    suppliedIdentifier: arkIf(identity, "supplied"),
    assignedIdentifier: arkIf(identity, "minted"),
    retrievedIdentifier: arkIf(identity, "found"),
  };
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));
}

const arkIf = ({ ark, source }: Identity, wanted: Identity["source"]): string | undefined =>
  source === wanted ? ark : undefined;
