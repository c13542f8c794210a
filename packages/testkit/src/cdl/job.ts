/**
 * CDL's Job class, call by call: what it looks at, what it writes, and in which order. Each instance remembers the places
 * it has made itself, and deletes and makes them again at every change, also when they stay the same.
 */
import { type CdlCalls, cdlNow } from "./calls.ts";
import { BUCKET_OF, CDL_JOB_STATES, checkChange } from "./states.ts";

type Json = Record<string, unknown>;

export class CdlJob {
  readonly id: string;
  bid = "";
  status: string | null = null;
  priority = 5;
  configuration: Json = {};
  identifiers: Json = {};
  inventory: Json = {};
  #retryCount = 0;
  #jobStatePath: string | null = null;
  #batchStatePath: string | null = null;
  readonly #zk: CdlCalls;

  constructor(zk: CdlCalls, id: string) {
    this.#zk = zk;
    this.id = id;
  }

  path(name?: string): string {
    return name === undefined ? `/jobs/${this.id}` : `/jobs/${this.id}/${name}`;
  }

  static async create(
    zk: CdlCalls,
    bid: string,
    configuration: Json,
    { priority = 5, identifiers = {} }: { readonly priority?: number; readonly identifiers?: Json } = {},
  ): Promise<CdlJob> {
    const made = await zk.create("/jobs/jid", "", "sequential");
    const job = new CdlJob(zk, made.slice("/jobs/".length));
    job.bid = bid;
    if (!(await job.lock())) throw new Error(`${job.id}: no lock`);
    try {
      await zk.create(job.path("bid"), bid);
      await zk.create(job.path("priority"), String(job.priority));
      await zk.create(job.path("space_needed"), "0");
      await zk.create(job.path("configuration"), JSON.stringify(configuration));
      if (Object.keys(identifiers).length > 0) await job.#put("identifiers", identifiers);
      if (priority !== job.priority) {
        job.priority = priority;
        await zk.set(job.path("priority"), String(priority));
      }
      await job.setStatus("Pending");
      await job.#setBatchStatePath();
      await job.#setJobStatePath();
      return job;
    } finally {
      await job.unlock();
    }
  }

  /** The first of the queue that is not locked, whatever has become of it since the queue was listed. */
  static async acquire(zk: CdlCalls, state: string): Promise<CdlJob | null> {
    const queue = `/jobs/states/${state.toLowerCase()}`;
    if (!(await zk.exists(queue))) return null;
    for (const name of await zk.children(queue)) {
      const job = new CdlJob(zk, name.slice("PP-".length));
      if (!(await job.lock())) continue;
      try {
        await job.load();
        return job;
      } catch (fault) {
        await job.unlock();
        throw fault;
      }
    }
    return null;
  }

  lock(): Promise<boolean> {
    return this.#zk.lock(this.path("lock"));
  }

  /** Whoever's it is. */
  async unlock(): Promise<void> {
    await this.#zk.remove(this.path("lock"));
  }

  /** Reading makes the places that it thinks are missing. */
  async load(): Promise<void> {
    const zk = this.#zk;
    if (!(await zk.exists(this.path()))) throw new Error(`Missing Node ${this.path()}`);
    const status = await this.#json("status");
    this.status = String(status["status"]);
    this.#retryCount = Number(status["retry_count"]);
    if (!(this.status in CDL_JOB_STATES)) throw new Error(`no JobState ${this.status}`);
    this.configuration = await this.#json("configuration");
    this.bid = await this.#text("bid");
    this.priority = intOf(await this.#text("priority"));
    intOf(await this.#text("space_needed"));
    this.identifiers = await this.#json("identifiers");
    await this.#json("metadata");
    this.inventory = await this.#json("inventory");
    await this.#json("store");
    await this.#setJobStatePath();
    await this.#setBatchStatePath();
  }

  /** `JSONObject.getString`: a null is no text. */
  get primaryId(): string {
    const value = "primary_id" in this.identifiers ? this.identifiers["primary_id"] : "";
    if (typeof value !== "string") throw new Error('JSONObject["primary_id"] is not a string.');
    return value;
  }

  success(): string {
    const success = CDL_JOB_STATES[String(this.status)]?.success;
    if (success === undefined) throw new Error(`${String(this.status)} has no success`);
    return success;
  }

  async setStatus(to: string, message = ""): Promise<void> {
    if (to !== this.status) {
      if (this.status !== null) checkChange(CDL_JOB_STATES, this.status, to);
      const path = this.path("status");
      const old = (await this.#zk.exists(path)) ? await this.#json("status") : {};
      const text = JSON.stringify(this.#statusObject(old, to, message));
      if (this.status === null) await this.#zk.create(path, text);
      else await this.#zk.set(path, text);
      this.status = to;
    }
    await this.#setJobStatePath();
    await this.#setBatchStatePath();
  }

  /** The state that is left counts as a success, whichever it is, unless the new one is Failed or Deleted. */
  #statusObject(old: Json, to: string, message: string): Json {
    const left = old["status"];
    const counts = left !== undefined && left !== to && to !== "Failed" && to !== "Deleted";
    return {
      ...old,
      status: to,
      last_modified: cdlNow(),
      last_successful_status: counts ? left : (old["last_successful_status"] ?? null),
      retry_count: this.#retryCount,
      message,
    };
  }

  async #setJobStatePath(): Promise<void> {
    const place = `/jobs/states/${String(this.status).toLowerCase()}/${String(this.priority).padStart(2, "0")}-${this.id}`;
    if (this.#jobStatePath !== null) await this.#zk.remove(this.#jobStatePath);
    this.#jobStatePath = place;
    if (await this.#zk.exists(place)) return;
    const queue = place.slice(0, place.lastIndexOf("/"));
    if (!(await this.#zk.exists(queue))) await this.#zk.create(queue);
    await this.#zk.create(place);
  }

  async #setBatchStatePath(): Promise<void> {
    const bucket = `/batches/${this.bid}/states/${BUCKET_OF[String(this.status)] ?? "batch-processing"}`;
    const place = `${bucket}/${this.id}`;
    if (this.#batchStatePath !== null) await this.#zk.remove(this.#batchStatePath);
    this.#batchStatePath = place;
    if (await this.#zk.exists(place)) return;
    if (!(await this.#zk.exists(bucket))) await this.#zk.createIfNeeded(bucket, FORGIVEN);
    await this.#zk.createIfNeeded(place, FORGIVEN);
  }

  async #put(name: string, data: Json): Promise<void> {
    const path = this.path(name);
    if (await this.#zk.exists(path)) await this.#zk.set(path, JSON.stringify(data));
    else await this.#zk.create(path, JSON.stringify(data));
  }

  async #text(name: string): Promise<string> {
    const path = this.path(name);
    if (!(await this.#zk.exists(path))) throw new Error(`Path not found for ${path}`);
    return await this.#zk.text(path);
  }

  /** Optional nodes that are missing are empty objects; a status is not optional. */
  async #json(name: string): Promise<Json> {
    const path = this.path(name);
    if (name !== "status" && !(await this.#zk.exists(path))) return {};
    const text = name === "status" ? await this.#text(name) : await this.#zk.text(path);
    return text === "" ? {} : (JSON.parse(text) as Json);
  }
}

/** So often a create that another one forestalled is tried again. */
const FORGIVEN = 6;

/** `Integer.parseInt`. */
function intOf(text: string): number {
  if (!/^-?\d+$/.test(text)) throw new Error(`Improperly formatted number: ${text}`);
  return Number(text);
}
