/** Turns what a decision changes into ops, each with the version that the node will have when it is its turn. */
import type { Op } from "@sluice/zookeeper";
import { nextBlock } from "../ids.ts";
import { DONE_PER_DIRECTORY, INLINE_DATA_BYTES, INLINE_RESULT_BYTES, RECORD_BYTES } from "../limits.ts";
import { paths } from "../paths.ts";
import { type Done, type Job, records } from "../records.ts";
import type { Change, Unit } from "../shard/changes.ts";
import { hourOf } from "./archive.ts";
import type { NodeVersions, Tree } from "./load.ts";
import type { Term } from "./term.ts";
import { EMPTY } from "./tree.ts";

/** Nobody else writes here, so what we did last is what the tree holds. */
export class Writer {
  readonly #term: Term;
  readonly #versions: Map<number, NodeVersions>;
  readonly #done: Map<string, number>;
  #idsVersion: number;

  constructor(term: Term, { versions, done }: Pick<Tree, "versions" | "done">) {
    this.#term = term;
    this.#versions = versions;
    this.#done = done;
    this.#idsVersion = term.idsVersion;
  }

  opsOf(unit: Unit): readonly Op[] {
    return unit.flatMap((change) => this.#ops(change));
  }

  /** Directories of the archive whose hour began before; nothing more is written there. */
  directoriesBefore(moment: number): readonly string[] {
    return [...this.#done.keys()].filter((directory) => (hourOf(directory) ?? Infinity) <= moment);
  }

  forgetDirectory(directory: string): void {
    this.#done.delete(directory);
  }

  #ops(change: Change): readonly Op[] {
    const { shard } = this.#term;
    switch (change.kind) {
      case "create":
        return this.#create(change.id, change.job);
      case "set":
        return this.#set(change.id, change.job);
      case "delete":
        return this.#delete(change.id);
      case "take-block":
        return this.#takeBlock(change.block);
      case "drop-block":
        return [{ op: "delete", path: paths.block(change.block), version: 0 }];
      case "mark":
        return [{ op: "create", path: paths.group(shard, change.group), data: EMPTY }];
      case "unmark":
        return [{ op: "delete", path: paths.group(shard, change.group), version: 0 }];
      case "done":
        return this.#archive(change.id, change.token, change.done);
    }
  }

  #create(id: number, job: Job): readonly Op[] {
    const { record, data } = encodeJob(job);
    this.#versions.set(id, { record: 0, data: data === null ? null : 0 });
    const create: Op = { op: "create", path: paths.job(id), data: record };
    return data === null ? [create] : [create, { op: "create", path: paths.data(id), data }];
  }

  #set(id: number, job: Job): readonly Op[] {
    const versions = this.#of(id);
    const { record, data } = encodeJob(job);
    const ops: Op[] = [{ op: "set", path: paths.job(id), data: record, version: versions.record }];
    versions.record += 1;
    if (data !== null && versions.data !== null) {
      ops.push({ op: "set", path: paths.data(id), data, version: versions.data });
      versions.data += 1;
    } else if (data !== null) {
      ops.push({ op: "create", path: paths.data(id), data });
      versions.data = 0;
    } else if (versions.data !== null) {
      ops.push({ op: "delete", path: paths.data(id), version: versions.data });
      versions.data = null;
    }
    return ops;
  }

  #delete(id: number): readonly Op[] {
    const versions = this.#of(id);
    this.#versions.delete(id);
    const ops: Op[] = [{ op: "delete", path: paths.job(id), version: versions.record }];
    return versions.data === null ? ops : [{ op: "delete", path: paths.data(id), version: versions.data }, ...ops];
  }

  #takeBlock(block: number): readonly Op[] {
    const { shard, term } = this.#term;
    const data = records.ids.encode({ next: nextBlock(block), term });
    const version = this.#idsVersion;
    this.#idsVersion += 1;
    return [
      { op: "set", path: paths.ids(shard), data, version },
      { op: "create", path: paths.block(block), data: EMPTY },
    ];
  }

  #archive(id: number, token: string, done: Done): readonly Op[] {
    const { shard } = this.#term;
    const { directory, ops } = this.#directory(done.ended);
    const { result, ...rest } = done;
    const large = result !== undefined && Buffer.byteLength(result) > INLINE_RESULT_BYTES;
    const entry: Op = {
      op: "create",
      path: paths.doneEntry(shard, directory, id, token),
      data: records.done.encode(large ? rest : done),
    };
    if (!large) return [...ops, entry];
    return [
      ...ops,
      entry,
      { op: "create", path: paths.doneResult(shard, directory, id, token), data: Buffer.from(result) },
    ];
  }

  /** One for each hour, and a further one when it is full. */
  #directory(ended: number): { readonly directory: string; readonly ops: readonly Op[] } {
    const hour = new Date(ended).toISOString().slice(0, 13).replaceAll(/[-T]/g, "");
    for (let n = 0; ; n++) {
      const directory = n === 0 ? hour : `${hour}-${n}`;
      const entries = this.#done.get(directory);
      if (entries !== undefined && entries >= DONE_PER_DIRECTORY) continue;
      this.#done.set(directory, (entries ?? 0) + 1);
      const path = paths.doneDirectory(this.#term.shard, directory);
      return { directory, ops: entries === undefined ? [{ op: "create", path, data: EMPTY }] : [] };
    }
  }

  #of(id: number): NodeVersions {
    const versions = this.#versions.get(id);
    if (versions === undefined) throw new Error(`job ${id} is not in the tree`);
    return versions;
  }
}

/** Data that would make the record large stands beside it. */
function encodeJob(job: Job): { readonly record: Buffer; readonly data: Buffer | null } {
  if (Buffer.byteLength(job.data) <= INLINE_DATA_BYTES) {
    const whole = records.job.encode(job);
    if (whole.length <= RECORD_BYTES) return { record: whole, data: null };
  }
  const { data, ...rest } = job;
  return { record: records.job.encode({ ...rest, dataNode: true }), data: Buffer.from(data) };
}
