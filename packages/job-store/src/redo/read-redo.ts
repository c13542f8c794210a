/** The redo log, for a restore: what shards wrote behind a transaction, in the order of their terms. */
import { createReadStream } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { listRedo } from "./redo-files.ts";
import { parseLine, type RedoTransaction } from "./redo-line.ts";

/** Where a snapshot ends. */
export interface RedoFrom {
  readonly epoch: number;
  readonly zxid: bigint;
}

export interface ShardRedo {
  readonly shard: number;
  /** What stands at each path that was written to; null: nothing does. */
  readonly nodes: ReadonlyMap<string, Buffer | null>;
  readonly transactions: number;
  /** Of terms that go on behind them: a disk did not take them. */
  readonly missing: number;
}

export interface ReadRedo {
  readonly shards: readonly ShardRedo[];
  /** Files with a line that has changed on the disk; what is behind it is not read. */
  readonly damaged: readonly string[];
}

export async function readRedo(folder: string, from: RedoFrom): Promise<ReadRedo> {
  const shards = new Map<number, Gathering>();
  const damaged: string[] = [];
  for (const { name, epoch } of (await listRedo(folder)).filter((file) => file.epoch >= from.epoch)) {
    const whole = await readFile(join(folder, name), (transaction) => {
      if (epoch === from.epoch && transaction.zxid <= from.zxid) return;
      const known = shards.get(transaction.shard) ?? new Gathering();
      known.add({ epoch, ...transaction });
      shards.set(transaction.shard, known);
    });
    if (!whole) damaged.push(name);
  }
  const inOrder = [...shards].sort(([a], [b]) => a - b);
  return { shards: inOrder.map(([shard, gathering]) => gathering.result(shard)), damaged };
}

/** False: a line in it is none, and it is not the last one, which its writer may not have finished. */
async function readFile(path: string, onTransaction: (transaction: RedoTransaction) => void): Promise<boolean> {
  const lines = createInterface({ input: createReadStream(path, "utf8"), crlfDelay: Infinity });
  let isTorn = false;
  for await (const line of lines) {
    if (isTorn) return false;
    const transaction = parseLine(line);
    if (transaction === null) isTorn = true;
    else onTransaction(transaction);
  }
  return true;
}

interface Placed extends RedoTransaction {
  readonly epoch: number;
}

/** A later one has a later epoch, then a later term, then a later number. */
const isLater = (a: Placed, b: Placed): boolean => (a.epoch - b.epoch || a.term - b.term || a.number - b.number) > 0;

/** Of one shard, in whatever order its terms are read: only the last write of a node is held. */
class Gathering {
  readonly #last = new Map<string, { readonly data: Buffer | null; readonly by: Placed }>();
  readonly #terms = new Map<string, { first: number; last: number; count: number }>();
  #transactions = 0;

  add(transaction: Placed): void {
    const { epoch, term, number, ops } = transaction;
    const by = { ...transaction, ops: [] };
    this.#transactions += 1;
    const span = this.#terms.get(`${epoch}.${term}`) ?? { first: number, last: number, count: 0 };
    span.first = Math.min(span.first, number);
    span.last = Math.max(span.last, number);
    span.count += 1;
    this.#terms.set(`${epoch}.${term}`, span);
    for (const { path, data } of ops) {
      const known = this.#last.get(path);
      if (known === undefined || !isLater(known.by, by)) this.#last.set(path, { data, by });
    }
  }

  result(shard: number): ShardRedo {
    const nodes = new Map([...this.#last].map(([path, { data }]) => [path, data]));
    const missing = [...this.#terms.values()].reduce(
      (sum, { first, last, count }) => sum + last - first + 1 - count,
      0,
    );
    return { shard, nodes, transactions: this.#transactions, missing };
  }
}
