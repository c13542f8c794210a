/** Turns what a decision changes into ops, each with the version that the node will have when it is its turn. */
import type { Op } from "@sluice/zookeeper";
import { nextBlock } from "../ids.ts";
import { INLINE_DATA_BYTES, RECORD_BYTES } from "../limits.ts";
import { paths } from "../paths.ts";
import { type Crashed, type Done, type Guest, type Job, records } from "../records.ts";
import type { Change, Unit } from "../shard/changes.ts";
import { doneOps } from "./done-entries.ts";
import type { DoneIndex } from "./done-index.ts";
import type { NodeVersions, Tree } from "./load.ts";
import type { Term } from "./term.ts";
import { EMPTY } from "./tree.ts";

/** Nobody else writes here, so what we did last is what the tree holds. */
export class Writer {
  readonly #term: Term;
  readonly #versions: Map<number, NodeVersions>;
  readonly #done: DoneIndex;
  #guests: Map<string, number> | null;
  #crashed: number | null;
  #idsVersion: number;

  constructor(term: Term, { versions, done, guests, crashed }: Tree) {
    this.#term = term;
    this.#versions = versions;
    this.#done = done;
    this.#guests = guests;
    this.#crashed = crashed;
    this.#idsVersion = term.idsVersion;
  }

  opsOf(unit: Unit): readonly Op[] {
    const [only] = unit;
    return unit.length === 1 && only !== undefined ? this.#ops(only) : unit.flatMap((change) => this.#ops(change));
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
        return [this.#advanceIds(change.block), makeBlock(change.block)];
      case "reserve-block":
        return [this.#advanceIds(change.block)];
      case "make-block":
        return [makeBlock(change.block)];
      case "guest":
        return this.#guest(change.name, change.guest);
      case "crashed":
        return [this.#setCrashed(change.crashed)];
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
    this.#versions.set(id, { record: 0, data: data === null ? null : 0, text: job.data });
    const create: Op = { op: "create", path: paths.job(id), data: record };
    return data === null ? [create] : [create, { op: "create", path: paths.data(id), data }];
  }

  #set(id: number, job: Job): readonly Op[] {
    const versions = this.#of(id);
    const { record, data } = encodeJob(job);
    const ops: Op[] = [{ op: "set", path: paths.job(id), data: record, version: versions.record }];
    versions.record += 1;
    const isSame = versions.text === job.data;
    versions.text = job.data;
    if (data !== null && versions.data !== null) {
      // Most changes leave the data as it is; many of them at once must fit into one transaction.
      if (isSame) return ops;
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

  #advanceIds(block: number): Op {
    const { shard, term } = this.#term;
    const data = records.ids.encode({ next: nextBlock(block), term });
    const version = this.#idsVersion;
    this.#idsVersion += 1;
    return { op: "set", path: paths.ids(shard), data, version };
  }

  #guest(name: string, guest: Guest): readonly Op[] {
    const { shard } = this.#term;
    const path = paths.guest(shard, name);
    const data = records.guest.encode(guest);
    const frame: Op[] = this.#guests === null ? [{ op: "create", path: paths.guests(shard), data: EMPTY }] : [];
    this.#guests ??= new Map();
    const version = this.#guests.get(name);
    this.#guests.set(name, version === undefined ? 0 : version + 1);
    return [...frame, version === undefined ? { op: "create", path, data } : { op: "set", path, data, version }];
  }

  #setCrashed(crashed: Crashed): Op {
    const path = paths.crashed(this.#term.shard);
    const data = records.crashed.encode(crashed);
    const version = this.#crashed;
    this.#crashed = version === null ? 0 : version + 1;
    return version === null ? { op: "create", path, data } : { op: "set", path, data, version };
  }

  #archive(id: number, token: string, done: Done): readonly Op[] {
    const { shard } = this.#term;
    const { directory, isNew } = this.#done.place(done.ended);
    const entry = doneOps(shard, { directory, id, token }, done);
    const bytes = entry.reduce((sum, op) => sum + (op.op === "create" ? op.data.length : 0), 0);
    // A large one is read again when it leaves: memory is for the many.
    this.#done.add({ directory, id, token, bytes, done: entry.length === 1 ? done : null });
    return isNew ? [{ op: "create", path: paths.doneDirectory(shard, directory), data: EMPTY }, ...entry] : entry;
  }

  #of(id: number): NodeVersions {
    const versions = this.#versions.get(id);
    if (versions === undefined) throw new Error(`job ${id} is not in the tree`);
    return versions;
  }
}

const makeBlock = (block: number): Op => ({ op: "create", path: paths.block(block), data: EMPTY });

/** Data that would make the record large stands beside it. */
function encodeJob(job: Job): { readonly record: Buffer; readonly data: Buffer | null } {
  if (Buffer.byteLength(job.data) <= INLINE_DATA_BYTES) {
    const whole = records.job.encode(job);
    if (whole.length <= RECORD_BYTES) return { record: whole, data: null };
  }
  const { data, ...rest } = job;
  return { record: records.job.encode({ ...rest, dataNode: true }), data: Buffer.from(data) };
}
