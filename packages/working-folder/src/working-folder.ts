import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { ContainedFolder, IoError, type Outcome } from "@sluice/safe-io";
import { batchName, claimName, jobName, tokenOfName } from "./names.ts";

/** The name of a manifest, in a batch's folder and in a claim's. */
export const MANIFEST_FILE = "manifest.checkm";

/** Where a claim has its container until it is unpacked. */
export const CONTAINER_FOLDER = "container";

/** Where a claim keeps what came with a wrong digest: evidence, never content. */
export const REJECTED_FOLDER = "rejected";

/** The files of one claim: what a stage has made of the job. They count once a commit names this token. */
export interface ClaimFolder {
  readonly token: number;
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
 *     ROOT/BID/manifest.checkm                 the batch's manifest, frozen when the batch is started
 *     ROOT/BID/uploads/NAME                    what came with the submission
 *     ROOT/BID/JID/.claim-TOKEN/manifest.checkm
 *     ROOT/BID/JID/.claim-TOKEN/producer/…
 *     ROOT/BID/JID/.claim-TOKEN/system/…
 *
 * A claim writes only below its own token. Which token's files count stands in the queue, not here.
 */
export interface WorkingFolder {
  readonly root: string;
  /** Made if it is not there. */
  readonly batchFolder: (bid: string) => Promise<Outcome<ContainedFolder>>;
  /** What was uploaded with the batch: `upload:NAME` is NAME in here, or it is nothing. Made if it is not there. */
  readonly uploads: (bid: string) => Promise<Outcome<ContainedFolder>>;
  /** The path of the batch's frozen manifest. */
  readonly batchManifest: (bid: string) => string;
  readonly jobFolder: (bid: string, jid: string) => string;
  /** The folder of a claim under way, made if it is not there. */
  readonly claimFolder: (bid: string, jid: string, token: number) => Promise<Outcome<ClaimFolder>>;
  /** The files of a claim that was kept, to be read only; NOT_FOUND when there are none. */
  readonly filesOf: (bid: string, jid: string, token: number) => Promise<Outcome<ClaimFolder>>;
  /** Claims before this one that left a folder, the latest first. One that came later is never among them. */
  readonly earlierClaims: (bid: string, jid: string, token: number) => Promise<Outcome<readonly ClaimFolder[]>>;
  /** Removes what earlier claims left behind, but for these tokens; what came later than all of them stays. */
  readonly pruneClaims: (bid: string, jid: string, keepTokens: readonly number[]) => Promise<Outcome<void>>;
  readonly removeJob: (bid: string, jid: string) => Promise<Outcome<void>>;
  readonly removeBatch: (bid: string) => Promise<Outcome<void>>;
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

  readonly batchFolder = (bid: string) => this.#folder.sub(batchName(bid));
  readonly uploads = (bid: string) => this.#folder.sub(`${batchName(bid)}/uploads`);
  readonly batchManifest = (bid: string) => join(this.root, batchName(bid), MANIFEST_FILE);
  readonly jobFolder = (bid: string, jid: string) => join(this.root, jobPath(bid, jid));
  readonly removeJob = (bid: string, jid: string) => this.#folder.remove(jobPath(bid, jid));
  readonly removeBatch = (bid: string) => this.#folder.remove(batchName(bid));

  readonly claimFolder = async (bid: string, jid: string, token: number): Promise<Outcome<ClaimFolder>> => {
    const top = await this.#folder.sub(claimPath(bid, jid, token));
    if (!top.ok) return top;
    const producer = await top.value.sub("producer");
    if (!producer.ok) return producer;
    const system = await top.value.sub("system");
    if (!system.ok) return system;
    return { ok: true, value: { token, top: top.value, producer: producer.value, system: system.value } };
  };

  readonly filesOf = async (bid: string, jid: string, token: number): Promise<Outcome<ClaimFolder>> => {
    const there = await this.#folder.stat(claimPath(bid, jid, token));
    return there.ok ? this.claimFolder(bid, jid, token) : there;
  };

  readonly earlierClaims = async (
    bid: string,
    jid: string,
    token: number,
  ): Promise<Outcome<readonly ClaimFolder[]>> => {
    const claims: ClaimFolder[] = [];
    for (const earlier of await this.#tokensBefore(bid, jid, token)) {
      const claim = await this.filesOf(bid, jid, earlier);
      if (claim.ok) claims.push(claim.value);
      else if (claim.error.code !== "NOT_FOUND") return claim;
    }
    return { ok: true, value: claims };
  };

  readonly pruneClaims = async (bid: string, jid: string, keepTokens: readonly number[]): Promise<Outcome<void>> => {
    const earlier = await this.#tokensBefore(
      bid,
      jid,
      keepTokens.reduce((most, token) => Math.max(most, token), -Infinity),
    );
    for (const token of earlier.filter((each) => !keepTokens.includes(each))) {
      const removed = await this.#folder.remove(claimPath(bid, jid, token));
      if (!removed.ok) return removed;
    }
    return { ok: true, value: undefined };
  };

  /** The latest first; none if the job has no folder. */
  async #tokensBefore(bid: string, jid: string, before: number): Promise<number[]> {
    const names = await readdir(this.jobFolder(bid, jid)).catch(() => []);
    const tokens = names.map(tokenOfName).filter((token) => token !== null);
    return tokens.filter((token) => token < before).sort((a, b) => b - a);
  }
}

const jobPath = (bid: string, jid: string): string => `${batchName(bid)}/${jobName(jid)}`;

const claimPath = (bid: string, jid: string, token: number): string => `${jobPath(bid, jid)}/${claimName(token)}`;
