/** Every file is what it should be, shown anew just before it is stored. */
import type { Job } from "@sluice/queue-core";
import { digestMatches, DigestMeter, type Digests, type FileEntry, IoError } from "@sluice/safe-io";
import { fail, type JobContext, type Outcome } from "@sluice/stage-runtime";
import { type ClaimFolder, type PayloadFile, payloadFiles } from "@sluice/working-folder";
import type { ProcessorParts } from "../parts.ts";
import { corroborate, type FileClaim } from "./corroboration.ts";
import { diskTrouble, ended, type Step, went } from "./step.ts";

/** A file whose bytes were read and judged. */
export interface VerifiedFile {
  readonly name: string;
  readonly path: string;
  readonly bytes: number;
  readonly modifiedMs: number;
  readonly sha256: string;
  readonly sha512: string;
}

type Expected = ReadonlyMap<string, PayloadFile>;

export async function verifyFixity(
  job: Job,
  kept: ClaimFolder,
  ctx: JobContext,
  parts: ProcessorParts,
): Promise<Step<readonly VerifiedFile[]>> {
  const expected = await expectedFiles(job, kept, parts);
  if (!expected.ok) return expected;
  const listed = await kept.producer.files();
  if (!listed.ok) return diskTrouble(listed.error, parts.diskFullWaitMs);
  const difference = compareNames(expected.value, listed.value);
  if (difference !== null) return ended(fail("FILES_MISSING", difference));
  const claims = await corroborate(listed.value, kept, parts);
  if (!claims.ok) return claims;
  const claimsOf = (name: string): FileClaim[] =>
    [expected.value.get(name), claims.value.get(name)].filter((claim) => claim !== undefined);
  return verifyEach(listed.value, claimsOf, kept, ctx, parts);
}

/** What the depositor announced. */
async function expectedFiles(job: Job, kept: ClaimFolder, parts: ProcessorParts): Promise<Step<Expected>> {
  const expected = new Map<string, PayloadFile>();
  try {
    for await (const item of payloadFiles(job.configuration, kept)) {
      if (!item.ok) return ended(fail(item.problem.code, item.problem.message));
      expected.set(item.file.name, item.file);
    }
  } catch (error) {
    if (error instanceof IoError) return diskTrouble(error.fault, parts.diskFullWaitMs);
    throw error;
  }
  return went(expected);
}

function compareNames(expected: Expected, listed: readonly FileEntry[]): string | null {
  const there = new Set(listed.map(({ name }) => name));
  const missing = [...expected.keys()].find((name) => !there.has(name));
  if (missing !== undefined) return `${JSON.stringify(missing)} is not in the working folder`;
  const surplus = listed.find(({ name }) => !expected.has(name));
  return surplus === undefined
    ? null
    : `${JSON.stringify(surplus.name)} is in the working folder and was not announced`;
}

async function verifyEach(
  listed: readonly FileEntry[],
  claimsOf: (name: string) => readonly FileClaim[],
  kept: ClaimFolder,
  ctx: JobContext,
  parts: ProcessorParts,
): Promise<Step<readonly VerifiedFile[]>> {
  const totalBytes = listed.reduce((sum, { bytes }) => sum + bytes, 0);
  const verified: VerifiedFile[] = [];
  let doneBytes = 0;
  for (const entry of listed) {
    const file = await verifyFile(entry, claimsOf(entry.name), kept, ctx, parts);
    if (!file.ok) return file;
    verified.push(file.value);
    ctx.progress({ doneBytes: (doneBytes += entry.bytes), totalBytes, note: "checking" });
  }
  return went(verified);
}

async function verifyFile(
  { name, modifiedMs }: FileEntry,
  claims: readonly FileClaim[],
  kept: ClaimFolder,
  ctx: JobContext,
  parts: ProcessorParts,
): Promise<Step<VerifiedFile>> {
  const path = kept.producer.pathOf(name);
  const stream = await kept.producer.readStream(name);
  if (!path.ok) return diskTrouble(path.error, parts.diskFullWaitMs);
  if (!stream.ok) return diskTrouble(stream.error, parts.diskFullWaitMs);
  const claimed = claims.flatMap(({ digest }) => (digest === undefined ? [] : [digest.algorithm]));
  const meter = new DigestMeter([...new Set(["sha256" as const, "sha512" as const, ...claimed])]);
  for await (const chunk of stream.value as AsyncIterable<Buffer>) {
    ctx.signal.throwIfAborted();
    meter.update(chunk);
  }
  const digests = meter.digests();
  for (const claim of claims) {
    const wrong = judge(claim, meter.bytes, digests);
    if (wrong !== null) return ended(wrong);
  }
  const { sha256 = "", sha512 = "" } = digests;
  return went({ name, path: path.value, bytes: meter.bytes, modifiedMs, sha256, sha512 });
}

const WHERE = "in the working folder: resume at Downloading";

function judge({ name, size, digest }: FileClaim, bytes: number, digests: Digests): Outcome | null {
  const file = JSON.stringify(name);
  if (size !== undefined && size !== bytes) {
    return fail("SIZE_MISMATCH", `${file} has ${bytes} bytes instead of ${size} ${WHERE}`);
  }
  if (digest === undefined || digestMatches(digests, digest)) return null;
  const { algorithm, value } = digest;
  return fail(
    "DIGEST_MISMATCH",
    `${file} has the ${algorithm} ${digests[algorithm] ?? ""} instead of ${value} ${WHERE}`,
  );
}
