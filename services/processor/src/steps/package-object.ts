/** The object as it goes to the store: the producer's files, ours, and the manifest of both. */
import { createHash } from "node:crypto";
import { describeProblem, parsePayloadType, printStorageManifest } from "@sluice/ingest-formats";
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
  facts: Omit<ObjectFacts, "submissionManifest">,
  producer: readonly VerifiedFile[],
  place: Workplace,
  parts: ProcessorParts,
): Promise<Step<readonly StoreFile[]>> {
  const manifest = await submissionManifest(facts.job.configuration.payload_type, place, parts);
  if (!manifest.ok) return manifest;
  const files = producer.map(packagedProducerFile);
  const ours = systemFiles({ ...facts, submissionManifest: manifest.value });
  for (const written of await Promise.all(ours.map((file) => writeSystemFile(file, facts.submitted, place, parts)))) {
    if (!written.ok) return written;
    files.push(written.value);
  }
  const printed = printStorageManifest(files.map((file) => manifestRow(parts.urlOf, file)));
  if (!printed.ok) return ended(fail("NAME_REFUSED", printed.problems.map(describeProblem).join("; ")));
  const itself = { name: "mrt-manifest.txt", data: Buffer.from(printed.value) };
  const written = await writeSystemFile(itself, facts.submitted, place, parts);
  return written.ok ? went([...files, written.value]) : written;
}

async function submissionManifest(type: string, place: Workplace, parts: ProcessorParts): Promise<Step<Buffer | null>> {
  const parsed = parsePayloadType(type);
  if (!parsed.ok || parsed.value !== "object-manifest") return went(null);
  const manifest = await place.kept.top.read(MANIFEST_FILE);
  return manifest.ok ? went(manifest.value) : diskTrouble(manifest.error, parts.diskFullWaitMs);
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
