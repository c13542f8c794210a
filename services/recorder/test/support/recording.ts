/** A recorder over a real store folder and a real database file. */
import { join } from "node:path";
import { type Inventory, openInventory } from "@sluice/inventory";
import { batchId, FIRST_EPOCH, type Job, jobId } from "@sluice/queue-core";
import { type JobContext, type Outcome, silentLog } from "@sluice/stage-runtime";
import Database from "libsql";
import { recordingStage } from "../../src/record.ts";
import { ocflReader } from "../../src/stored/ocfl-reader.ts";
import type { VersionReader } from "../../src/stored/version-reader.ts";
import { ARK, uuidOf } from "./stored-object.ts";
import { tempFolder } from "./temp-folder.ts";

export class Crash extends Error {}

const LINKS_AND_PARTS = "nodes collections_inv_objects nodes_inv_objects metadatas embargoes duas audits".split(" ");

export interface RecordingJob {
  readonly number?: number;
  readonly ark?: string | null;
  readonly manifestUrl: string;
  /** The failpoint at which the process dies. */
  readonly crashAt?: string;
}

export class Office {
  readonly root = tempFolder();
  readonly store = join(this.root, "store");
  readonly file = join(this.root, "db/inventory.db");
  readonly locked: string[] = [];
  busy = false;
  awayCount = 0;
  reader: VersionReader = ocflReader(this.store);
  #inventory: Inventory | null = null;

  async inventory(): Promise<Inventory> {
    return (this.#inventory ??= await openInventory({ kind: "sqlite", file: this.file }));
  }

  useInventory(inventory: Inventory): void {
    this.#inventory = inventory;
  }

  async close(): Promise<void> {
    await this.#inventory?.close();
    this.#inventory = null;
  }

  async record(job: RecordingJob): Promise<Outcome | "crash"> {
    const parts = {
      reader: this.reader,
      inventory: await this.inventory(),
      busyWaitMs: 500,
      inventoryAwayWaitMs: 5_000,
      onInventoryAway: () => (this.awayCount += 1),
    };
    try {
      return await recordingStage(parts).handle(jobOf(job), this.#context(job));
    } catch (error) {
      if (error instanceof Crash) return "crash";
      throw error;
    }
  }

  /** What the tables hold, read by a connection of its own. */
  rows<T = Record<string, unknown>>(sql: string): T[] {
    const database = new Database(this.file);
    try {
      return database.prepare(sql).all([]) as T[];
    } finally {
      database.close();
    }
  }

  counts(): Record<string, number> {
    const tables = ["objects", "versions", "files", "ingests", "localids", "dublinkernels", "owners", "collections"];
    return Object.fromEntries(
      [...tables, ...LINKS_AND_PARTS].map((table) => [
        table,
        this.rows<{ n: number }>(`select count(*) as n from inv_${table}`)[0]!.n,
      ]),
    );
  }

  #context({ crashAt }: RecordingJob): JobContext {
    return {
      signal: new AbortController().signal,
      clock: { nowMs: () => 0, monotonicMs: () => 0 },
      log: silentLog(),
      failpoint: (step) => (step === crashAt ? Promise.reject(new Crash(step)) : Promise.resolve()),
      record: () => Promise.resolve(true),
      claimId: "claim",
      lockObjects: (names) => {
        for (const name of names) if (name.kind !== "localid") this.locked.push(`${name.kind} ${name.ark}`);
        return Promise.resolve(!this.busy);
      },
      progress: () => undefined,
    };
  }
}

function jobOf({ number = 1, ark = ARK, manifestUrl }: RecordingJob): Job {
  const id = jobId(number);
  return {
    id,
    uuid: uuidOf(id) as Job["uuid"],
    batchId: batchId(1),
    batchEpoch: FIRST_EPOCH,
    state: "Recording",
    attempt: 1,
    retryCount: 0,
    lastSuccessful: "Processing",
    enteredAt: "2024-05-01 11:59:58 +0000",
    message: "",
    priority: 5,
    spaceNeeded: 1,
    configuration: {} as Job["configuration"],
    identifiers: { primary_id: ark, local_id: [] },
    metadata: null,
    inventory: manifestUrl === "" ? null : { manifest_url: manifestUrl, mode: "add" },
    files: { epoch: FIRST_EPOCH, token: 5 },
    claim: { epoch: FIRST_EPOCH, token: 9 },
  };
}
