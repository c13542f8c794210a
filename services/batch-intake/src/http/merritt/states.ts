/** What Merritt's monitors and its admin tool ask an ingest service: its state, its profiles, its batches' folders. Pure. */
import type { Profile } from "@sluice/ingest-formats";
import { profileElements } from "../batch-state.ts";
import { type Element, element, optional, vocabulary, type Vocabulary } from "./elements.ts";

export interface Stated {
  readonly root: Element;
  readonly vocabulary: Vocabulary;
}

export interface ServiceFacts {
  /** null: ZooKeeper does not answer, and nobody can say. */
  readonly fleet: string | null;
  readonly version: string;
  readonly startedAtMs: number;
  readonly paused: boolean | null;
  /** null: whoever asks is not told. */
  readonly held: readonly string[] | null;
}

/** Monitors look for `thawed`. */
export const serviceState = ({ fleet, version, startedAtMs, paused, held }: ServiceFacts): Stated => ({
  vocabulary: vocabulary("ing", "service"),
  root: element("ingestServiceState", [
    element("serviceName", "Sluice"),
    ...optional("serviceID", fleet ?? undefined),
    element("serviceVersion", version),
    element("serviceStartTime", new Date(startedAtMs).toISOString()),
    element("submissionState", paused === null ? "unknown" : paused ? "frozen" : "thawed"),
    ...(held === null ? [] : [element("collectionSubmissionState", held.join(","))]),
  ]),
});

export const profileNames = (profiles: readonly Profile[]): Stated => ({
  vocabulary: vocabulary("pros", "profiles"),
  root: element("profilesState", [
    element(
      "profiles",
      profiles.map(({ profileId, description, modificationDate }) =>
        element("profileFile", [
          element("file", profileId),
          element("description", description),
          element("modificationDate", modificationDate ?? ""),
        ]),
      ),
    ),
  ]),
});

export const allProfiles = (profiles: readonly Profile[]): Stated => ({
  vocabulary: vocabulary("prosf", "profilesfull"),
  root: element("profilesFullState", [
    element(
      "profilesFull",
      profiles.map((profile) => element("profileState", wholeProfile(profile))),
    ),
  ]),
});

export const oneProfile = (profile: Profile): Stated => ({
  vocabulary: vocabulary("pro", "profile"),
  root: element("profileState", wholeProfile(profile)),
});

/** As in the answer to a submission, and what only the admin tool looks at. Nothing that may be a secret. */
const wholeProfile = (profile: Profile): readonly Element[] => [
  ...profileElements(profile),
  ...optional("collectionName", profile.collections[0]),
  ...optional("notificationType", profile.notificationType),
  ...optional("context", profile.context),
  ...optional("objectMinterURL", profile.objectMinterUrl),
  ...(profile.storageNode === undefined ? [] : [element("targetStorage", [element("nodeID", profile.storageNode)])]),
];

export interface Dated {
  readonly name: string;
  /** As the queue keeps it: `yyyy-MM-dd HH:mm:ss Z`. */
  readonly date: string;
}

/** Folders there, batches and jobs here: under their names outside, with the time of their last change. */
export const folderState = (folders: readonly Dated[]): Stated => ({
  vocabulary: { prefix: "fil", namespace: "http://uc3.cdlib.org/ontology/mrt/store/file" },
  root: element("batchFileState", [
    element("batchManifest", []),
    element(
      "jobFile",
      folders.map(({ name, date }) => element("batchFile", [element("file", name), element("fileDate", date)])),
    ),
  ]),
});
