/** The object as it goes to the store: the producer's files, ours, and the manifest of both. */
import { createHash } from "node:crypto";
import { describeProblem, parsePayloadType, printStorageManifest } from "@sluice/ingest-formats";
import { copyTo } from "@sluice/safe-io";
import { fail } from "@sluice/stage-runtime";
import { MANIFEST_FILE } from "@sluice/working-folder";
import { mimeTypeOf } from "../mime-types.ts";
import type { ProcessorParts } from "../parts.ts";
import type { StoreFile } from "../store/object-store.ts";
import type { VerifiedFile } from "./fixity.ts";
import { diskTrouble, ended, type Step, went } from "./step.ts";
import { type ObjectFacts, type SystemFile, systemFiles } from "./system-files.ts";
import type { Workplace } from "./workplace.ts";

interface PackagedFile extends StoreFile {
  readonly modified: string;
}

export async function packageObject(
  facts: Omit<ObjectFacts, "hasManifest">,
  producer: readonly VerifiedFile[],
  place: Workplace,
  parts: ProcessorParts,
): Promise<Step<readonly StoreFile[]>> {
  const hasManifest = isObjectManifest(facts.job.configuration.payload_type);
  const files = producer.map(packagedProducerFile);
  const ours = systemFiles({ ...facts, hasManifest });
  for (const written of await Promise.all(ours.map((file) => writeSystemFile(file, facts.submitted, place, parts)))) {
    if (!written.ok) return written;
    files.push(written.value);
  }
  if (hasManifest) {
    const kept = await keepManifest(facts.submitted, place, parts);
    if (!kept.ok) return kept;
    files.push(kept.value);
  }
  const printed = printStorageManifest(files.map((file) => manifestRow(parts.urlOf, file)));
  if (!printed.ok) return ended(fail("NAME_REFUSED", printed.problems.map(describeProblem).join("; ")));
  const itself = { name: "mrt-manifest.txt", data: Buffer.from(printed.value) };
  const written = await writeSystemFile(itself, facts.submitted, place, parts);
  return written.ok ? went([...files, written.value]) : written;
}

function isObjectManifest(payloadType: string): boolean {
  const type = parsePayloadType(payloadType);
  return type.ok && type.value === "object-manifest";
}

/** Copied and not read: it may have a million rows. */
async function keepManifest(modified: string, place: Workplace, parts: ProcessorParts): Promise<Step<PackagedFile>> {
  const name = "mrt-submission-manifest.txt";
  const path = place.own.system.pathOf(name);
  if (!path.ok) return diskTrouble(path.error, parts.diskFullWaitMs);
  const algorithms = ["sha256", "sha512"] as const;
  const copied = await copyTo(place.kept.top, MANIFEST_FILE, place.own.system, name, { algorithms });
  if (!copied.ok) return diskTrouble(copied.error, parts.diskFullWaitMs);
  const { bytes: size, digests } = copied.value;
  const { sha256 = "", sha512 = "" } = digests;
  return went({ logicalPath: `system/${name}`, source: path.value, size, sha256, sha512, modified });
}

async function writeSystemFile(
  { name, data }: SystemFile,
  modified: string,
  { own }: Workplace,
  parts: ProcessorParts,
): Promise<Step<PackagedFile>> {
  const path = own.system.pathOf(name);
  const written = await own.system.write(name, data);
  if (!path.ok) return diskTrouble(path.error, parts.diskFullWaitMs);
  if (!written.ok) return diskTrouble(written.error, parts.diskFullWaitMs);
  return went({
    logicalPath: `system/${name}`,
    source: path.value,
    size: data.byteLength,
    sha256: createHash("sha256").update(data).digest("hex"),
    sha512: createHash("sha512").update(data).digest("hex"),
    modified,
  });
}

const packagedProducerFile = ({ name, path, bytes, modifiedMs, sha256, sha512 }: VerifiedFile): PackagedFile => ({
  logicalPath: `producer/${name}`,
  source: path,
  size: bytes,
  sha256,
  sha512,
  modified: new Date(modifiedMs).toISOString(),
});

const manifestRow = (
  urlOf: ProcessorParts["urlOf"],
  { logicalPath, source, size, sha256, modified }: PackagedFile,
) => ({
  fileUrl: urlOf(source),
  digest: { algorithm: "sha256" as const, value: sha256 },
  fileSize: size,
  fileLastModified: modified,
  fileName: logicalPath,
  mimeType: mimeTypeOf(logicalPath),
});
