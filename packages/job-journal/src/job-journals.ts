/**
 * The journals of one process, one for each shard whose tenants it has served: a shard that cannot be reached holds up its
 * own lines only. The folder knows its name as a guest of the shards, so that it can be taken up by another process.
 */
import { randomUUID } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { BlobStore } from "@sluice/job-queue";
import { makeFolder, type Ownership, replaceFile, takeOwnership } from "@sluice/journal";
import { type Ingest, type IngestHooks, type IngestPorts, restock, startIngest } from "./ingest.ts";
import { type JobJournal, openJobJournal } from "./job-journal.ts";
import type { Later, ShardQueue } from "./queue.ts";
import { Tenants } from "./tenants.ts";
import type { JobJournalOptions, JobJournalStats } from "./types.ts";

export interface JobJournalsOptions extends Omit<JobJournalOptions, "maxBytes"> {
  /** Bound of what waits in each shard. */
  readonly maxBytes: number;
  readonly queue: ShardQueue;
  readonly blobs: BlobStore | null;
  readonly later: Later;
  readonly hooks?: IngestHooks;
}

export type OpenedJobJournals =
  { readonly ok: true; readonly journals: JobJournals } | { readonly ok: false; readonly problem: string };

interface Kept {
  readonly journal: JobJournal;
  readonly ingest: Ingest;
  readonly ports: IngestPorts;
}

/** Opens those that are there, and begins to take their lines in. */
export async function openJobJournals(options: JobJournalsOptions): Promise<OpenedJobJournals> {
  await makeFolder(options.folder);
  const owner = await takeOwnership(options.folder);
  if (typeof owner === "string") return { ok: false, problem: owner };
  const journals = new JobJournals(options, owner, await guestOf(options.folder), await Tenants.open(options.folder));
  const shards = (await readdir(options.folder)).filter((name) => /^\d\d$/.test(name));
  for (const shard of shards) {
    const problem = await journals.begin(Number(shard));
    if (problem === null) continue;
    await journals.close();
    return { ok: false, problem };
  }
  return { ok: true, journals };
}

async function guestOf(folder: string): Promise<string> {
  const known = await readFile(join(folder, "guest"), "utf8").catch(() => "");
  if (known !== "") return known;
  const guest = randomUUID();
  await replaceFile(folder, "guest", guest);
  return guest;
}

export class JobJournals {
  readonly guest: string;
  readonly tenants: Tenants;
  readonly #options: JobJournalsOptions;
  readonly #owner: Ownership;
  readonly #kept = new Map<number, Kept>();
  readonly #opening = new Map<number, Promise<string | null>>();
  readonly #stocking = new Map<number, Promise<string | null>>();

  #closed = false;

  constructor(options: JobJournalsOptions, owner: Ownership, guest: string, tenants: Tenants) {
    this.#options = options;
    this.#owner = owner;
    this.guest = guest;
    this.tenants = tenants;
  }

  /** Null: there is one for this shard, and its lines are taken in; else why not. */
  begin(shard: number): Promise<string | null> {
    if (this.#closed) return Promise.resolve("the journals are closed");
    if (this.#kept.has(shard)) return Promise.resolve(null);
    const opening = this.#opening.get(shard) ?? this.#open(shard).finally(() => this.#opening.delete(shard));
    this.#opening.set(shard, opening);
    return opening;
  }

  of(shard: number): JobJournal | null {
    return this.#kept.get(shard)?.journal ?? null;
  }

  /** Reserves ids for a shard unless there are enough besides those that are wanted. Null: there are. */
  stock(shard: number, wanted = 0): Promise<string | null> {
    const kept = this.#kept.get(shard);
    if (kept === undefined) return Promise.resolve("there is no journal for this shard");
    const stocking =
      this.#stocking.get(shard) ?? restock(kept.ports, wanted).finally(() => this.#stocking.delete(shard));
    this.#stocking.set(shard, stocking);
    return stocking;
  }

  stats(): ReadonlyMap<number, JobJournalStats> {
    return new Map([...this.#kept].map(([shard, { journal }]) => [shard, journal.stats()]));
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.tenants.written();
    await Promise.allSettled(this.#opening.values());
    await Promise.all([...this.#kept.values()].map(({ ingest }) => ingest.stop()));
    await Promise.allSettled(this.#stocking.values());
    await Promise.all([...this.#kept.values()].map(({ journal }) => journal.close()));
    await this.#owner.release();
  }

  async #open(shard: number): Promise<string | null> {
    const { queue, blobs, later, hooks = {}, failpoint } = this.#options;
    const folder = join(this.#options.folder, String(shard).padStart(2, "0"));
    const opened = await openJobJournal({ ...this.#options, folder });
    if (!opened.ok) return opened.problem;
    const { journal } = opened;
    const more = failpoint === undefined ? {} : { failpoint };
    const ports: IngestPorts = { shard, guest: this.guest, journal, queue, blobs, later, hooks, ...more };
    this.#kept.set(shard, { journal, ports, ingest: startIngest(ports) });
    return null;
  }
}
