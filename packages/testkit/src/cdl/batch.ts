/** CDL's Batch class, call by call. */
import { type CdlCalls, cdlNow } from "./calls.ts";
import { CDL_BATCH_STATES, checkChange } from "./states.ts";

type Json = Record<string, unknown>;

export class CdlBatch {
  readonly id: string;
  status: string | null = null;
  submission: Json = {};
  readonly #zk: CdlCalls;

  constructor(zk: CdlCalls, id: string) {
    this.#zk = zk;
    this.id = id;
  }

  path(name?: string): string {
    return name === undefined ? `/batches/${this.id}` : `/batches/${this.id}/${name}`;
  }

  static async create(zk: CdlCalls, submission: Json): Promise<CdlBatch> {
    const made = await zk.create("/batches/bid", "", "sequential");
    const batch = new CdlBatch(zk, made.slice("/batches/".length));
    const uuid = submission["batchID"];
    if (typeof uuid === "string" && uuid !== "") await zk.create(`/batch-uuids/${uuid}`, batch.id);
    await zk.create(batch.path("submission"), JSON.stringify(submission));
    await batch.setStatus("Pending");
    return batch;
  }

  /** Pending is what has no `states` yet; the state's name is not looked at. */
  static async acquirePending(zk: CdlCalls): Promise<CdlBatch | null> {
    for (const name of await zk.children("/batches")) {
      const batch = new CdlBatch(zk, name);
      if ((await zk.exists(batch.path("states"))) || !(await batch.lock())) continue;
      await batch.load();
      await zk.create(batch.path("states"));
      await batch.setStatus("Processing");
      return batch;
    }
    return null;
  }

  lock(): Promise<boolean> {
    return this.#zk.lock(this.path("lock"));
  }

  async unlock(): Promise<void> {
    await this.#zk.remove(this.path("lock"));
  }

  async load(): Promise<void> {
    this.status = String((JSON.parse(await this.#zk.text(this.path("status"))) as Json)["status"]);
    this.submission = JSON.parse(await this.#zk.text(this.path("submission"))) as Json;
  }

  async setStatus(to: string, message = ""): Promise<void> {
    if (to === this.status) return;
    if (this.status !== null) checkChange(CDL_BATCH_STATES, this.status, to);
    const path = this.path("status");
    const old = (await this.#zk.exists(path)) ? (JSON.parse(await this.#zk.text(path)) as Json) : {};
    const text = JSON.stringify({ ...old, status: to, last_modified: cdlNow(), message });
    if (this.status === null) await this.#zk.create(path, text);
    else await this.#zk.set(path, text);
    this.status = to;
  }
}
