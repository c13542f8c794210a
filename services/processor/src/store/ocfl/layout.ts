/** Where an object lives under its storage root: OCFL's registered layout 0004, with its default parameters. */
import { createHash } from "node:crypto";

export const LAYOUT = {
  extensionName: "0004-hashed-n-tuple-storage-layout",
  digestAlgorithm: "sha256",
  tupleSize: 3,
  numberOfTuples: 3,
  shortObjectRoot: false,
} as const;

export interface ObjectLocation {
  /** The id's digest: the name of the object's folder, and of its staging area. */
  readonly digest: string;
  /** Relative to the storage root. */
  readonly path: string;
}

export function locate(objectId: string): ObjectLocation {
  const digest = createHash(LAYOUT.digestAlgorithm).update(objectId, "utf8").digest("hex");
  const tuples = Array.from({ length: LAYOUT.numberOfTuples }, (_, i) =>
    digest.slice(i * LAYOUT.tupleSize, (i + 1) * LAYOUT.tupleSize),
  );
  return { digest, path: [...tuples, digest].join("/") };
}
