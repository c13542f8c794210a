/**
 * What owners of the general queue's shards must know of a restore: its epoch, where the snapshot ended, and which blocks of ids were
 * given before. A node of each shard, beside its ids.
 */
import { meaningOf, paths, type Restored, records } from "@sluice/job-queue";
import type { Op } from "@sluice/zookeeper";
import type { Header, SnapshotNode } from "./format.ts";

/** Before the first restore. */
const FIRST_EPOCH = 0;

export class ShardMarks {
  readonly #zxid: string;
  /** As the file has them, of the restore before. */
  readonly #before = new Map<number, Restored>();
  readonly #floors = new Map<number, number>();

  constructor({ zxid }: Pick<Header, "zxid">) {
    this.#zxid = zxid;
  }

  /** A node as it is written into the new tree, or would be. Null: it is none of ours, or taken; else what is wrong with it. */
  take({ path, data }: SnapshotNode): string | null {
    const meaning = meaningOf(path);
    if (meaning.kind === "ids") {
      const ids = records.ids.decode(data);
      if (!ids.ok) return `${path}: ${ids.problem}`;
      this.#floors.set(meaning.shard, ids.value.next);
    }
    if (meaning.kind === "restored") {
      const restored = records.restored.decode(data);
      if (!restored.ok) return `${path}: ${restored.problem}`;
      this.#before.set(meaning.shard, restored.value);
    }
    return null;
  }

  /** When all nodes have been taken. */
  ops(epoch: number): readonly Op[] {
    return [...this.#floors].map(([shard, floor]) => {
      const from = { epoch: this.#before.get(shard)?.epoch ?? FIRST_EPOCH, zxid: this.#zxid };
      return { op: "create", path: paths.restored(shard), data: records.restored.encode({ epoch, from, floor }) };
    });
  }
}
