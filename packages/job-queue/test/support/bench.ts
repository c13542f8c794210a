/** A shard without a tree: commands go in as texts, the clock is set by hand, and every change is checked as it is made. */
import { decide } from "../../src/shard/decide.ts";
import type { Change, Unit } from "../../src/shard/changes.ts";
import type { Command } from "../../src/shard/commands.ts";
import type { Content, Reply, Taken } from "../../src/shard/views.ts";
import { readCommand } from "../../src/shard/request.ts";
import { isStatus } from "../../src/shard/params.ts";
import { Shard, type ShardLimits } from "../../src/shard/shard.ts";
import type { EndedRun } from "../../src/run-archive.ts";
import { type Crashed, type Guest, records, type Job } from "../../src/records.ts";
import { isReachable, isLeased } from "../../src/states.ts";
import { parseTime } from "../../src/time/timestamp.ts";

export const START = parseTime("2026-11-16 13:00:00")!;

type Params = Readonly<Record<string, string | number>>;

export class Bench {
  now = START;
  shard: Shard;
  /** What would stand in the tree. */
  readonly written = new Map<number, Job>();
  readonly marks = new Set<string>();
  readonly blocks = new Set<number>();
  readonly done: string[] = [];
  readonly ended: EndedRun[] = [];
  readonly guests = new Map<string, Guest>();
  crashed: Crashed = {};
  readonly #versions = new Map<number, number>();
  #nextBlock = 0;
  #floor = 0;
  #term = 1;

  readonly #limits: ShardLimits;
  readonly #onUnits: (units: readonly Unit[]) => void;

  constructor(limits: ShardLimits = {}, onUnits: (units: readonly Unit[]) => void = () => undefined) {
    this.#limits = limits;
    this.#onUnits = onUnits;
    this.shard = this.#load();
  }

  /** The whole answer, as "200 OK". */
  ask(verb: string, params: Params = {}, tenant = "default", worker = "w"): string {
    const { status } = this.reply(verb, params, tenant, worker);
    return `${status.code} ${status.text}`;
  }

  reply(verb: string, params: Params = {}, tenant = "default", worker = "w"): Reply {
    const fields = Object.fromEntries(Object.entries(params).map(([name, value]) => [name, String(value)]));
    const command = readCommand(verb, fields, { tenant, caller: { kind: "worker", worker } });
    return isStatus(command) ? { status: command, content: { kind: "none" } } : this.run(command);
  }

  run(command: Command): Reply {
    const { reply, units } = decide(this.shard, command, this.now);
    this.#onUnits(units);
    for (const change of units.flat()) this.#write(change);
    return reply;
  }

  create(params: Params = {}, tenant = "default"): number {
    const reply = this.reply("CreateJob", { name: "job", ...params }, tenant);
    if (reply.content.kind !== "ids") throw new Error(`not created: ${reply.status.code} ${reply.status.text}`);
    return reply.content.ids[0]!;
  }

  get(name = "job", params: Params = {}, tenant = "default", worker = "w"): Taken {
    const { content, status } = this.reply("GetJob", { name, ...params }, tenant, worker);
    if (content.kind !== "taken" || content.jobs.length === 0)
      throw new Error(`not taken: ${status.code} ${status.text}`);
    return content.jobs[0]!;
  }

  content(verb: string, params: Params = {}): Content {
    return this.reply(verb, params).content;
  }

  query(id: number): Readonly<Record<string, unknown>> {
    const content = this.content("QueryJob", { jobID: id });
    return content.kind === "job" ? { ...content.job } : {};
  }

  state(id: number): string {
    const content = this.content("QueryJob", { jobID: id });
    return content.kind === "job" ? content.job.state : "-";
  }

  pass(ms: number): void {
    this.now += ms;
    this.run({ verb: "Tick" });
  }

  at(text: string): void {
    this.now = parseTime(text)!;
  }

  /** Another owner loads what was written, and must know the same jobs in the same states. */
  takeOver(): void {
    const before = [...this.shard.jobs()].map(([id, job]) => [id, this.shard.stateOf(job)]);
    this.reload();
    const after = [...this.shard.jobs()].map(([id, job]) => [id, this.shard.stateOf(job)]);
    const byId = (list: unknown[][]): string => JSON.stringify(list.sort((a, b) => Number(a[0]) - Number(b[0])));
    if (byId(before) !== byId(after)) throw new Error(`${byId(before)} became ${byId(after)}`);
  }

  /** As from a snapshot that does not know of anything since: ids go on behind a gap. */
  restore(): void {
    this.#nextBlock += 16 * 1000;
    this.#floor = this.#nextBlock;
    this.reload();
  }

  reload(): void {
    this.shard = this.#load();
  }

  #load(): Shard {
    const { written, marks, guests, crashed } = this;
    const ids = { next: this.#nextBlock, term: this.#term };
    const loaded = {
      shard: 0,
      term: this.#term++,
      ids,
      jobs: written,
      versions: new Map([...this.#versions].map(([id, record]) => [id, { record }])),
      marks,
      blocks: [...this.blocks],
      ended: [],
      guests,
      crashed,
      brokenGuests: new Set<string>(),
      unreadable: new Map(),
      floor: this.#floor,
    };
    const shard = new Shard(loaded, this.now, this.#limits);
    for (const change of shard.takeUnits().flat()) this.#write(change);
    return shard;
  }

  #write(change: Change): void {
    switch (change.kind) {
      case "create":
      case "set": {
        const before = this.written.get(change.id);
        if ((change.kind === "create") === (before !== undefined)) throw new Error(`${change.kind} of ${change.id}`);
        const { job } = change;
        if (before !== undefined && before.state !== job.state && !isReachable(before.state, job.state))
          throw new Error(`${before.state} to ${job.state}`);
        if (isLeased(job.state) !== (job.lease !== undefined))
          throw new Error(`${job.state} with lease ${job.lease?.token}`);
        const decoded = records.job.decode(records.job.encode(job));
        if (!decoded.ok) throw new Error(decoded.problem);
        this.written.set(change.id, job);
        this.#versions.set(change.id, before === undefined ? 0 : (this.#versions.get(change.id) ?? 0) + 1);
        break;
      }
      case "delete":
        if (!this.written.delete(change.id)) throw new Error(`delete of ${change.id}`);
        break;
      case "mark":
        this.marks.add(change.group);
        break;
      case "unmark":
        if (!this.marks.delete(change.group)) throw new Error(`unmark of ${change.group}`);
        break;
      case "take-block":
        this.blocks.add(change.block);
        this.#nextBlock = change.block + 16;
        break;
      case "reserve-block":
        this.#nextBlock = change.block + 16;
        break;
      case "make-block":
        if (this.blocks.has(change.block)) throw new Error(`make of block ${change.block}`);
        this.blocks.add(change.block);
        break;
      case "guest":
        this.guests.set(change.name, change.guest);
        break;
      case "crashed":
        this.crashed = change.crashed;
        break;
      case "drop-block":
        if (!this.blocks.delete(change.block)) throw new Error(`drop of block ${change.block}`);
        break;
      case "done":
        this.done.push(`${change.id}-${change.token}`);
        this.ended.push({ id: change.id, token: change.token, done: change.done });
    }
  }
}
