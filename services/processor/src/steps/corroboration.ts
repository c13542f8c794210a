/** A producer's mrt-manifest.txt: what the package says of itself. It must name every file, and only files that are there. */
import { describeProblem, readManifest } from "@sluice/ingest-formats";
import { type FileEntry, IoError } from "@sluice/safe-io";
import { fail } from "@sluice/stage-runtime";
import type { ClaimFolder, PayloadFile } from "@sluice/working-folder";
import type { ProcessorParts } from "../parts.ts";
import { diskTrouble, ended, type Step, went } from "./step.ts";

export type FileClaim = Pick<PayloadFile, "name" | "size" | "digest">;
export type FileClaims = ReadonlyMap<string, FileClaim>;

const NAME = "mrt-manifest.txt";

/** No claims if the package brings no such file. */
export async function corroborate(
  listed: readonly FileEntry[],
  kept: ClaimFolder,
  parts: ProcessorParts,
): Promise<Step<FileClaims>> {
  if (!listed.some(({ name }) => name === NAME)) return went(new Map());
  const claims = await readClaims(kept, parts);
  if (!claims.ok) return claims;
  const there = new Set(listed.map(({ name }) => name));
  const missing = [...claims.value.keys()].find((name) => !there.has(name));
  if (missing !== undefined) return disagrees(`${JSON.stringify(missing)} is not in the package`);
  const unnamed = listed.find(({ name }) => name !== NAME && !claims.value.has(name));
  return unnamed === undefined ? claims : disagrees(`${JSON.stringify(unnamed.name)} is not named`);
}

async function readClaims(kept: ClaimFolder, parts: ProcessorParts): Promise<Step<FileClaims>> {
  const stream = await kept.producer.readStream(NAME);
  if (!stream.ok) return diskTrouble(stream.error, parts.diskFullWaitMs);
  const claims = new Map<string, FileClaim>();
  try {
    for await (const event of readManifest(stream.value, { kind: "object-check-manifest" })) {
      if (event.type === "problem") return disagrees(describeProblem(event.problem));
      if (event.type !== "row") continue;
      const { row, fileName: name, fileSize: size, digest } = event.row;
      if (name === undefined) return disagrees(`row ${row}: no file name`);
      claims.set(name, { name, size, digest });
    }
  } catch (error) {
    if (error instanceof IoError) return diskTrouble(error.fault, parts.diskFullWaitMs);
    throw error;
  }
  return went(claims);
}

const disagrees = (what: string) => ended(fail("METADATA_INVALID", `the package's own ${NAME}: ${what}`));
