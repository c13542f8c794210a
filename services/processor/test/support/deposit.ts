/** A job in Processing with its files on a real disk, and everything around it that a handler sees. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { afterEach } from "@jest/globals";
import { parseProfile } from "@sluice/ingest-formats";
import { type Inventory, openInventory } from "@sluice/inventory";
import { batchId, FIRST_EPOCH, type Identifiers, type Job, type JobChanges, jobId, jobUuid } from "@sluice/queue-core";
import type { JobContext, Log, ObjectLockName, Outcome } from "@sluice/stage-runtime";
import { openWorkingFolder } from "@sluice/working-folder";
import { noidMinter } from "../../src/minter/noid-minter.ts";
import type { Minter } from "../../src/minter/minter.ts";
import type { ProcessorParts, ProfileSource } from "../../src/parts.ts";
import { processingStage } from "../../src/process.ts";
import { workingUrl } from "../../src/store/working-url.ts";
import { openOcflStore } from "../../src/store/ocfl/ocfl-store.ts";
import { write } from "./hand-made-object.ts";
import { Crash } from "./store-requests.ts";
import { tempFolder } from "./temp-folder.ts";

export const OWNER = "ark:/99999/fk4owner";
export const COLLECTION = "ark:/99999/fk4collection";

export const PROFILE = `ProfileID: library_content
ProfileDescription: A library
Identifier-scheme: ARK
Identifier-namespace: 99999
Collection.1: ${COLLECTION}
Type: MRT-curatorial
Role: MRT-content
Owner: ${OWNER}
Notification.1: ann@example.org
`;

export function profilesOf(...texts: readonly string[]): ProfileSource {
  const profiles = texts.map((text) => {
    const parsed = parseProfile(text);
    if (!parsed.ok) throw new Error(JSON.stringify(parsed.problems));
    return parsed.profile;
  });
  return {
    get: (name) => {
      const profile = profiles.find(({ profileId }) => profileId === name);
      return profile === undefined ? { ok: false, problem: `no ${name}` } : { ok: true, profile };
    },
  };
}

/** Counts the names that it is told of, each once. */
export function countingMinter(): Minter & { readonly minted: string[] } {
  const inner = noidMinter({ naan: "99999", shoulder: "fk4" });
  const minted: string[] = [];
  return {
    ...inner,
    minted,
    register(request) {
      if (!minted.includes(request.ark)) minted.push(request.ark);
      return inner.register(request);
    },
  };
}

const inventories: Inventory[] = [];
afterEach(async () => {
  await Promise.all(inventories.splice(0).map((inventory) => inventory.close()));
});

/** The inventory of one test; closed after it. */
export async function realInventory(root = tempFolder()): Promise<Inventory> {
  const inventory = await openInventory({ kind: "sqlite", file: join(root, "inventory.db") });
  inventories.push(inventory);
  return inventory;
}

export interface Deposit {
  readonly files: Readonly<Record<string, string>>;
  readonly manifest?: string;
  readonly configuration?: Partial<Job["configuration"]>;
  readonly identifiers?: Partial<Identifiers>;
  readonly metadata?: Job["metadata"];
  readonly number?: number;
}

/** Outcomes as they end an attempt; `crash` when a failpoint killed it. */
export type Attempt = Outcome | { readonly kind: "crash"; readonly at: string };

export class Laboratory {
  readonly parts: ProcessorParts;
  readonly minter: ReturnType<typeof countingMinter>;
  readonly root: string;
  readonly store: string;
  /** Locks that others hold. */
  readonly busy = new Set<string>();
  readonly locked: string[] = [];
  readonly steps: string[] = [];
  /** What happens at a step of the job that runs. */
  onStep: (step: string) => Promise<void> = () => Promise.resolve();

  private constructor(root: string, parts: ProcessorParts, minter: ReturnType<typeof countingMinter>) {
    this.root = root;
    this.store = join(root, "store");
    this.parts = parts;
    this.minter = minter;
  }

  static async open(change: Partial<ProcessorParts> = {}): Promise<Laboratory> {
    const root = tempFolder();
    const minter = countingMinter();
    const parts: ProcessorParts = {
      folder: await openWorkingFolder(join(root, "work")),
      profiles: profilesOf(PROFILE),
      store: await openOcflStore(join(root, "store"), Date.parse("2026-02-03T04:05:06Z")),
      urlOf: workingUrl(join(root, "work"), undefined),
      minter,
      localIds: change.localIds ?? (await realInventory(root)),
      busyWaitMs: 1_000,
      diskFullWaitMs: 30_000,
      inventoryAwayWaitMs: 5_000,
      onInventoryAway: () => undefined,
      ...change,
    };
    return new Laboratory(root, parts, minter);
  }

  job(deposit: Deposit): JobInHand {
    const id = jobId(deposit.number ?? 1);
    const batch = batchId(1);
    const claim = join(this.root, "work", batch, id, ".claim-5");
    mkdirSync(join(claim, "producer"), { recursive: true });
    for (const [name, text] of Object.entries(deposit.files)) write(join(claim, "producer", name), text);
    if (deposit.manifest !== undefined) write(join(claim, "manifest.checkm"), deposit.manifest);
    return new JobInHand(this, {
      id,
      uuid: jobUuid(id, "a-history"),
      batchId: batch,
      batchEpoch: FIRST_EPOCH,
      state: "Processing",
      attempt: 1,
      retryCount: 0,
      lastSuccessful: "Downloading",
      enteredAt: "2024-05-01 11:59:58 +0000",
      message: "",
      priority: 5,
      spaceNeeded: 1,
      configuration: configurationOf(deposit),
      identifiers:
        deposit.identifiers === undefined ? null : { primary_id: null, local_id: [], ...deposit.identifiers },
      metadata: deposit.metadata ?? null,
      inventory: null,
      files: { epoch: FIRST_EPOCH, token: 5 },
      claim: { epoch: FIRST_EPOCH, token: 7 },
    });
  }
}

const configurationOf = ({ files, configuration }: Deposit): Job["configuration"] =>
  ({
    profile_name: "library_content",
    submitter: "Ann <ann@example.org>",
    payload_url: "http://content.example.org/x",
    payload_type: "file",
    payload_name: Object.keys(files)[0],
    submission_mode: "add",
    submission_date: "2026-02-01T00:00:00Z",
    ...configuration,
  }) as Job["configuration"];

/** One job: what handlers write down stays with it from attempt to attempt, as it does in the tree. */
export class JobInHand {
  readonly #laboratory: Laboratory;
  #job: Job;
  readonly records: JobChanges[] = [];
  stillOurs = true;

  constructor(laboratory: Laboratory, job: Job) {
    this.#laboratory = laboratory;
    this.#job = job;
  }

  get job(): Job {
    return this.#job;
  }

  /** `crashAt`: the number of the failpoint at which the process dies; 0 = never. */
  async run(crashAt = 0): Promise<Attempt> {
    const { claim, attempt } = this.#job;
    this.#job = { ...this.#job, claim: { ...claim, token: claim.token + 2 }, attempt: attempt + 1 };
    const ctx = this.#context(crashAt);
    try {
      return await processingStage(this.#laboratory.parts).handle(this.#job, ctx);
    } catch (error) {
      if (error instanceof Crash) return { kind: "crash", at: error.message };
      throw error;
    }
  }

  #context(crashAt: number): JobContext {
    const laboratory = this.#laboratory;
    const { busy, locked, steps } = laboratory;
    steps.length = 0;
    return {
      signal: new AbortController().signal,
      clock: { nowMs: () => Date.parse("2026-02-03T04:05:06Z"), monotonicMs: () => 0 },
      log: { info: () => undefined, warn: () => undefined } as unknown as Log,
      failpoint(step) {
        steps.push(step);
        return steps.length === crashAt ? Promise.reject(new Crash(step)) : laboratory.onStep(step);
      },
      record: (changes) => {
        if (!this.stillOurs) return Promise.resolve(false);
        this.records.push(changes);
        this.#job = { ...this.#job, identifiers: changes.identifiers ?? this.#job.identifiers };
        return Promise.resolve(true);
      },
      claimId: "claim",
      lockObjects: (names) => {
        const keys = names.map(lockKey);
        locked.push(...keys);
        return Promise.resolve(!keys.some((key) => busy.has(key)));
      },
      progress: () => undefined,
    };
  }
}

const lockKey = (lock: ObjectLockName): string =>
  lock.kind === "localid" ? `localid ${lock.localId} ${lock.ownerArk}` : `${lock.kind} ${lock.ark}`;
