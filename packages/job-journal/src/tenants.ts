/** In which shard each tenant's jobs stand, as we were told: an add must find it after a restart without ZooKeeper, too. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { replaceFile } from "@sluice/journal";
import { z } from "zod";

const NAME = "tenants.json";
const TenantsFile = z.record(z.string(), z.number().int().min(0));

export class Tenants {
  readonly #folder: string;
  readonly #shards: Map<string, number>;
  #writing: Promise<unknown> = Promise.resolve();

  private constructor(folder: string, shards: Map<string, number>) {
    this.#folder = folder;
    this.#shards = shards;
  }

  static async open(folder: string): Promise<Tenants> {
    const text = await readFile(join(folder, NAME), "utf8").catch(() => "{}");
    return new Tenants(folder, new Map(Object.entries(TenantsFile.parse(JSON.parse(text)))));
  }

  shardOf(tenant: string): number | null {
    return this.#shards.get(tenant) ?? null;
  }

  /** On disk when it returns. A tenant's jobs do not move. */
  async note(tenant: string, shard: number): Promise<void> {
    if (this.#shards.get(tenant) === shard) return;
    this.#shards.set(tenant, shard);
    const writing = this.#writing.then(() =>
      replaceFile(this.#folder, NAME, JSON.stringify(Object.fromEntries(this.#shards))),
    );
    this.#writing = writing.catch(() => undefined);
    await writing;
  }

  /** When nothing is on its way to disk. */
  async written(): Promise<void> {
    await this.#writing;
  }
}
