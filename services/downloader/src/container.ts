import { type ArchiveLimits, type Outcome, type Unpacked, unpackTo } from "@sluice/safe-io";
import type { JobContext } from "@sluice/stage-runtime";
import { beginContents, type ClaimFolder, CONTAINER_FOLDER, CONTENTS_FILE } from "@sluice/working-folder";

/**
 * Unpacks the claim's container into its `producer/` and writes down what was in it; then the container is removed. The
 * list of contents comes last, so that a container that was half unpacked when its worker died is never taken for whole.
 */
export async function unpackContainer(
  claim: ClaimFolder,
  limits: Partial<ArchiveLimits>,
  ctx: JobContext,
  onBytes: (unpacked: number) => void,
): Promise<Outcome<Unpacked>> {
  const name = await containerName(claim);
  if (!name.ok) return name;
  const cleared = await startOver(claim);
  if (!cleared.ok) return cleared;
  const unpacked = await unpackListed(claim, name.value, limits, ctx, onBytes);
  if (!unpacked.ok) return unpacked;
  await ctx.failpoint("afterUnpack");
  const removed = await claim.top.remove(CONTAINER_FOLDER);
  return removed.ok ? unpacked : removed;
}

async function containerName({ top }: ClaimFolder): Promise<Outcome<string>> {
  const folder = await top.sub(CONTAINER_FOLDER);
  const files = folder.ok ? await folder.value.files() : folder;
  if (!files.ok) return files;
  const [first] = files.value;
  if (first !== undefined) return { ok: true, value: `${CONTAINER_FOLDER}/${first.name}` };
  return { ok: false, error: { code: "IO_ERROR", message: "the container vanished", retryable: true } };
}

/** The same claim may have come this far before. */
async function startOver({ top, producer }: ClaimFolder): Promise<Outcome<void>> {
  const removed = await top.remove(CONTENTS_FILE);
  return removed.ok ? producer.clear() : removed;
}

async function unpackListed(
  claim: ClaimFolder,
  name: string,
  limits: Partial<ArchiveLimits>,
  ctx: JobContext,
  onBytes: (unpacked: number) => void,
): Promise<Outcome<Unpacked>> {
  const list = await beginContents(claim);
  if (!list.ok) return list;
  let files = 0;
  const unpacked = await unpackTo(claim.top, name, claim.producer, {
    limits,
    signal: ctx.signal,
    onProgress: (doneBytes) => {
      onBytes(doneBytes);
      ctx.progress({ doneBytes, totalBytes: null, note: `unpacking: ${files} files here` });
    },
    onFile: async (file) => {
      files += 1;
      await list.value.add(file);
    },
  });
  if (!unpacked.ok) {
    await list.value.abandon();
    return { ok: false, error: { ...unpacked.error, message: `${name}: ${unpacked.error.message}` } };
  }
  const finished = await list.value.finish();
  return finished.ok ? unpacked : finished;
}
