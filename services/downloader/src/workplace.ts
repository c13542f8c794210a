import type { Job } from "@sluice/queue-core";
import { type ContainedFolder, copyTo, type Outcome } from "@sluice/safe-io";
import {
  type ClaimFolder,
  CONTAINER_FOLDER,
  isContainer,
  MANIFEST_FILE,
  type WorkingFolder,
} from "@sluice/working-folder";
import type { Places } from "./obtain-file.ts";

/** The job's folders: where it goes, and the claim whose files count until now. */
export interface Workplace extends Places {
  readonly claim: ClaimFolder;
  readonly kept: ClaimFolder | null;
}

/** Files go straight to where they belong; a container has a place of its own until it is unpacked. */
export async function openWorkplace(job: Job, folder: WorkingFolder): Promise<Outcome<Workplace>> {
  const claim = await folder.claimFolder(job, job.claim);
  if (!claim.ok) return claim;
  const claims = await folder.earlierClaims(job, job.claim);
  if (!claims.ok) return claims;
  const uploads = await folder.uploads(job);
  if (!uploads.ok) return uploads;
  const kept = await keptFolder(job, folder);
  if (!kept.ok) return kept;
  const common = { claim: claim.value, kept: kept.value, uploads: uploads.value, top: claim.value.top };
  if (!isContainer(job.configuration)) {
    const earlier = claims.value.map(({ producer }) => producer);
    return { ok: true, value: { ...common, target: claim.value.producer, earlier } };
  }
  const target = await claim.value.top.sub(CONTAINER_FOLDER);
  if (!target.ok) return target;
  return { ok: true, value: { ...common, target: target.value, earlier: await containerFolders(claims.value) } };
}

/** The queue names it; that it is gone is for those to say who need something in it. */
async function keptFolder(job: Job, folder: WorkingFolder): Promise<Outcome<ClaimFolder | null>> {
  if (job.files === null) return { ok: true, value: null };
  const kept = await folder.filesOf(job, job.files);
  return kept.ok || kept.error.code !== "NOT_FOUND" ? kept : { ok: true, value: null };
}

async function containerFolders(claims: readonly ClaimFolder[]): Promise<ContainedFolder[]> {
  const found: ContainedFolder[] = [];
  for (const { top } of claims) {
    const there = await top.stat(CONTAINER_FOLDER);
    const folder = there.ok ? await top.sub(CONTAINER_FOLDER) : there;
    if (folder.ok) found.push(folder.value);
  }
  return found;
}

/** The manifest moves along with the files it names; then what dead claims left behind makes room. */
export async function clearUp(job: Job, folder: WorkingFolder, { claim, kept }: Workplace): Promise<Outcome<void>> {
  const there = await kept?.top.stat(MANIFEST_FILE);
  if (kept !== null && there?.ok === true) {
    const copied = await copyTo(kept.top, MANIFEST_FILE, claim.top, MANIFEST_FILE);
    if (!copied.ok) return copied;
  } else if (there?.ok === false && there.error.code !== "NOT_FOUND") return there;
  return folder.pruneClaims(job, job.files === null ? [job.claim] : [job.files, job.claim]);
}

/** Everything that this claim and those before it have brought, but for the files that count. */
export async function giveRoomBack(
  job: Job,
  folder: WorkingFolder,
  { claim }: Pick<Workplace, "claim">,
): Promise<Outcome<void>> {
  const cleared = await claim.top.clear();
  if (!cleared.ok) return cleared;
  return folder.pruneClaims(job, job.files === null ? [job.claim] : [job.files, job.claim]);
}
