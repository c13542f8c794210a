import { join } from "node:path";
import type { BatchPlace, ClaimName, JobPlace } from "@sluice/queue-core";
import { ContainedFolder, IoError, type Outcome } from "@sluice/safe-io";
import { batchName, claimName, compareClaims, jobPath, parseClaimName, sameClaim } from "./names.ts";
import { namesIn } from "./names-in.ts";

/** The name of a manifest, in a batch's folder and in a claim's. */
export const MANIFEST_FILE = "manifest.checkm";

/** Where a claim has its container until it is unpacked. */
export const CONTAINER_FOLDER = "container";

/** Where a claim keeps what came with a wrong digest: evidence, never content. */
export const REJECTED_FOLDER = "rejected";

/** The files of one claim: what a stage has made of the job. They count once a commit names this claim. */
export interface ClaimFolder {
  readonly claim: ClaimName;
  /** Holds the object manifest, if the job has one, as MANIFEST_FILE. */
  readonly top: ContainedFolder;
  /** The depositor's files, under the depositor's names. */
  readonly producer: ContainedFolder;
  /** The files that we add. */
  readonly system: ContainedFolder;
}

/**
 * Where jobs have their files:
 *
 *     ROOT/BID-EPOCH/manifest.checkm                 the batch's manifest, frozen when the batch is started
 *     ROOT/BID-EPOCH/uploads/NAME                    what came with the submission
 *     ROOT/BID-EPOCH/JID/.claim-EPOCH-TOKEN/manifest.checkm
 *     ROOT/BID-EPOCH/JID/.claim-EPOCH-TOKEN/producer/…
 *     ROOT/BID-EPOCH/JID/.claim-EPOCH-TOKEN/system/…
 *
 * The first EPOCH is that in which the batch was made, the second that of the claim: numbers and tokens can come again
 * after a restore. A name without an epoch is of the time before there were epochs. A claim writes only below its own
 * name. Which claim's files count stands in the queue, not here.
 */
export interface WorkingFolder {
  readonly root: string;
  /** Made if it is not there. */
  readonly batchFolder: (batch: BatchPlace) => Promise<Outcome<ContainedFolder>>;
  /** What was uploaded with the batch: `upload:NAME` is NAME in here, or it is nothing. Made if it is not there. */
  readonly uploads: (batch: BatchPlace) => Promise<Outcome<ContainedFolder>>;
  /** The path of the batch's frozen manifest. */
  readonly batchManifest: (batch: BatchPlace) => string;
  readonly jobFolder: (job: JobPlace) => string;
  /** The folder of a claim under way, made if it is not there. */
  readonly claimFolder: (job: JobPlace, claim: ClaimName) => Promise<Outcome<ClaimFolder>>;
  /** The files of a claim that was kept, to be read only; NOT_FOUND when there are none. */
  readonly filesOf: (job: JobPlace, claim: ClaimName) => Promise<Outcome<ClaimFolder>>;
  /** Claims before this one that left a folder, the latest first. One that came later is never among them. */
  readonly earlierClaims: (job: JobPlace, claim: ClaimName) => Promise<Outcome<readonly ClaimFolder[]>>;
  /** Removes what earlier claims left behind, but for these; what came later than all of them stays. */
  readonly pruneClaims: (job: JobPlace, kept: readonly ClaimName[]) => Promise<Outcome<void>>;
  readonly removeJob: (job: JobPlace) => Promise<Outcome<void>>;
  readonly removeBatch: (batch: BatchPlace) => Promise<Outcome<void>>;
}

/** Opens the folder, made if it is not there; rejects when that cannot be done, for no service can work without. */
export async function openWorkingFolder(root: string): Promise<WorkingFolder> {
  const opened = await ContainedFolder.open(root);
  if (!opened.ok) throw new IoError({ ...opened.error, message: `the working folder ${opened.error.message}` });
  return new Folders(opened.value);
}

class Folders implements WorkingFolder {
  readonly root: string;
  readonly #folder: ContainedFolder;

  constructor(folder: ContainedFolder) {
    this.root = folder.root;
    this.#folder = folder;
  }

  readonly batchFolder = (batch: BatchPlace) => this.#folder.sub(batchName(batch));
  readonly uploads = (batch: BatchPlace) => this.#folder.sub(`${batchName(batch)}/uploads`);
  readonly batchManifest = (batch: BatchPlace) => join(this.root, batchName(batch), MANIFEST_FILE);
  readonly jobFolder = (job: JobPlace) => join(this.root, jobPath(job));
  readonly removeJob = (job: JobPlace) => this.#folder.remove(jobPath(job));
  readonly removeBatch = (batch: BatchPlace) => this.#folder.remove(batchName(batch));

  readonly claimFolder = async (job: JobPlace, claim: ClaimName): Promise<Outcome<ClaimFolder>> => {
    const top = await this.#folder.sub(claimPath(job, claim));
    if (!top.ok) return top;
    const producer = await top.value.sub("producer");
    if (!producer.ok) return producer;
    const system = await top.value.sub("system");
    if (!system.ok) return system;
    return { ok: true, value: { claim, top: top.value, producer: producer.value, system: system.value } };
  };

  readonly filesOf = async (job: JobPlace, claim: ClaimName): Promise<Outcome<ClaimFolder>> => {
    const there = await this.#folder.stat(claimPath(job, claim));
    return there.ok ? this.claimFolder(job, claim) : there;
  };

  readonly earlierClaims = async (job: JobPlace, claim: ClaimName): Promise<Outcome<readonly ClaimFolder[]>> => {
    const claims: ClaimFolder[] = [];
    for (const earlier of await this.#claimsBefore(job, claim)) {
      const folder = await this.filesOf(job, earlier);
      if (folder.ok) claims.push(folder.value);
      else if (folder.error.code !== "NOT_FOUND") return folder;
    }
    return { ok: true, value: claims };
  };

  readonly pruneClaims = async (job: JobPlace, kept: readonly ClaimName[]): Promise<Outcome<void>> => {
    const latest = [...kept].sort(compareClaims).at(-1);
    const earlier = latest === undefined ? [] : await this.#claimsBefore(job, latest);
    for (const claim of earlier.filter((each) => !kept.some((one) => sameClaim(one, each)))) {
      const removed = await this.#folder.remove(claimPath(job, claim));
      if (!removed.ok) return removed;
    }
    return { ok: true, value: undefined };
  };

  /** The latest first; none if the job has no folder. */
  async #claimsBefore(job: JobPlace, before: ClaimName): Promise<ClaimName[]> {
    const names = await namesIn(this.jobFolder(job));
    const claims = names.map(parseClaimName).filter((claim) => claim !== null);
    return claims.filter((claim) => compareClaims(claim, before) < 0).sort((a, b) => compareClaims(b, a));
  }
}

const claimPath = (job: JobPlace, claim: ClaimName): string => `${jobPath(job)}/${claimName(claim)}`;
