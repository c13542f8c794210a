/**
 * All jobs of a shard in the memory of its owner, and every index over them. Commands change it through `put`, `remove` and
 * the like, which at once note what is to be written: memory and notes cannot differ.
 */
import { blockOfShard } from "../ids.ts";
import { ENDED_REMEMBERED, JOBS_PER_TENANT } from "../limits.ts";
import { Heap, type Placed } from "../memory/heap.ts";
import { ReadyIndex, type Slot } from "../memory/ready-index.ts";
import { Usage } from "../memory/usage.ts";
import type { Crashed, Done, Ids, Job } from "../records.ts";
import type { State } from "../states.ts";
import type { Unreadable } from "../owner/salvage.ts";
import { Blocks } from "./blocks.ts";
import { Cancelled, isCancelledAlone } from "./cancelled.ts";
import { withStates } from "./container-states.ts";
import type { Change, Unit } from "./changes.ts";
import type { TypeCounts } from "./views.ts";
import { Families, type Family } from "./families.ts";
import { changed, leaseEnd } from "./job.ts";
import { count, type JobType, JobTypes } from "./job-types.ts";
import { Journals, type LoadedJournals } from "./journals.ts";
import { isOver } from "./over.ts";

interface LeaseSlot extends Placed {
  readonly id: number;
  readonly deadline: number;
}

interface Entry {
  job: Job;
  /** Of its record in the tree: how often it was written since it was made. */
  version: number;
  type: JobType;
  slot: Slot | null;
  lease: LeaseSlot | null;
  /** When its present run began. */
  began: number;
  /** What it was counted as. */
  counted: State;
}

export interface Loaded extends LoadedJournals {
  readonly shard: number;
  readonly term: number;
  readonly ids: Ids;
  readonly jobs: ReadonlyMap<number, Job>;
  readonly blocks: readonly number[];
  readonly marks: ReadonlySet<string>;
  /** Tokens of runs that have ended, with their jobs. */
  readonly ended: Iterable<readonly [string, number]>;
  readonly crashed: Crashed;
  /** Versions of the jobs' records; 0 for those that are missing. */
  readonly versions?: ReadonlyMap<number, { readonly record: number }>;
  /** Jobs whose records cannot be read: they are among the jobs, as what could be saved of them. */
  readonly unreadable: ReadonlyMap<number, Unreadable>;
}

export interface ShardLimits {
  readonly jobsPerTenant?: number;
}

export class Shard {
  readonly number: number;
  readonly term: number;
  /** Live ones; the fleet's own tenant has no such bound. */
  readonly jobsPerTenant: number;
  readonly index = new ReadyIndex();
  /** What each tenant's jobs cost. */
  readonly usage = new Usage();
  readonly journals: Journals;
  readonly #jobs = new Map<number, Entry>();
  readonly #families = new Families();
  readonly #cancelled = new Cancelled();
  readonly #types = new JobTypes();
  readonly #leases = new Heap<LeaseSlot>((a, b) => a.deadline < b.deadline);
  readonly #groups = new Map<string, Set<number>>();
  /** Still in the tree, and gone for everybody. Parents after their children. */
  readonly #dead = new Set<number>();
  readonly #blocks: Blocks;
  readonly #ended = new Map<string, number>();
  readonly #byWorker = new Map<string, Set<number>>();
  readonly #ofTenant = new Map<string, number>();
  readonly #unreadable: Map<number, Unreadable>;
  #crashed: Crashed;
  #units: Change[][] = [[]];
  #woken: Slot[] = [];
  #tokens = 0;
  /** When the last command was decided. */
  #now: number;

  constructor(loaded: Loaded, now: number, { jobsPerTenant = JOBS_PER_TENANT }: ShardLimits = {}) {
    this.jobsPerTenant = jobsPerTenant;
    this.#now = now;
    this.number = loaded.shard;
    this.term = loaded.term;
    this.journals = new Journals(loaded, (change) => this.#note(change));
    this.#unreadable = new Map(loaded.unreadable);
    this.#crashed = loaded.crashed;
    const next = Math.max(loaded.ids.next, blockOfShard(loaded.shard, 0));
    this.#blocks = new Blocks(next, loaded.blocks, (change) => this.#note(change));
    this.#load(loaded, now);
    for (const [token, id] of loaded.ended) this.rememberEnd(token, id);
  }

  get size(): number {
    return this.#jobs.size;
  }

  sizeOf(tenant: string): number {
    return this.#ofTenant.get(tenant) ?? 0;
  }

  job(id: number): Job | null {
    return this.#jobs.get(id)?.job ?? null;
  }

  /** Changes with every write of the job. */
  readonly versionOf = (id: number): number | null => this.#jobs.get(id)?.version ?? null;

  *jobs(): Iterable<readonly [number, Job]> {
    for (const [id, { job }] of this.#jobs) yield [id, job];
  }

  /** What it counts as: a PAUSED child whose parent's phase has reached its gate is QUEUED, without a write. */
  stateOf(job: Job): State {
    if (job.state !== "PAUSED" || job.parent === undefined || job.gate === undefined) return job.state;
    return (this.job(job.parent)?.phase ?? 0) >= job.gate ? "QUEUED" : "PAUSED";
  }

  family(id: number): Family {
    return this.#families.of(id);
  }

  /** One of the jobs of this name, in any state; a cancelled job without a parent is as good as gone. */
  named(tenant: string, name: string, mock: boolean): number | null {
    for (const id of this.#types.find(tenant, name, mock)?.ids ?? []) {
      const job = this.job(id);
      if (job !== null && !isCancelledAlone(job)) return id;
    }
    return null;
  }

  /** Whose lease names this worker. */
  heldBy(worker: string): ReadonlySet<number> {
    return this.#byWorker.get(worker) ?? new Set();
  }

  /** Of one tenant, or of all. */
  counts(tenant: string | null): readonly TypeCounts[] {
    return [...this.#types.all()].flatMap(({ tenant: of, name, mock, states }) =>
      // Mocked jobs are nobody's work.
      !mock && (tenant === null || of === tenant)
        ? [{ tenant: of, name, states: Object.fromEntries(states), ...this.index.readyOf(of, name) }]
        : [],
    );
  }

  /** Patterns of names that are not handed out, by tenant. */
  get crashed(): Crashed {
    return this.#crashed;
  }

  /** A tenant may be called like something that every object has. */
  crashedOf(tenant: string): readonly string[] {
    return Object.hasOwn(this.#crashed, tenant) ? (this.#crashed[tenant] ?? []) : [];
  }

  putCrashed(crashed: Crashed): void {
    this.#crashed = crashed;
    this.#note({ kind: "crashed", crashed });
  }

  /** Jobs whose records could not be read, until somebody changes or deletes them. */
  get unreadable(): ReadonlyMap<number, Unreadable> {
    return this.#unreadable;
  }

  reserveBlock(): number {
    return this.#blocks.reserve();
  }

  newToken(): string {
    this.#tokens += 1;
    return `${this.term}.${this.#tokens}`;
  }

  newId(): number {
    return this.#blocks.newId();
  }

  /** What comes next need not be in the same transaction. */
  cut(): void {
    if (this.#units.at(-1)?.length !== 0) this.#units.push([]);
  }

  create(id: number, job: Job, now: number): void {
    this.#blocks.makeFor(id);
    this.#note({ kind: "create", id, job });
    this.#blocks.add(id);
    if (job.grp !== undefined) this.#join(job.grp, id);
    this.#enter(id, job, now);
  }

  mark(group: string): void {
    this.#note({ kind: "mark", group });
  }

  put(id: number, job: Job, now: number): void {
    const entry = this.#jobs.get(id);
    if (entry === undefined) throw new Error(`no job ${id}`);
    const { grp } = entry.job;
    const told = withStates(entry.job, job);
    const next = grp === undefined ? told : changed(told, { grp: undefined });
    entry.version += 1;
    this.#note({ kind: "set", id, job: next });
    this.#unreadable.delete(id);
    if (grp !== undefined) this.#leave(grp, id);
    const opens = (entry.job.phase ?? 0) !== (next.phase ?? 0);
    this.#replace(id, entry, next, now);
    if (opens) for (const child of this.family(id).ids) this.#refile(child, now);
  }

  /** What changes nothing is not written: nobody could tell why it was. */
  putIfOther(id: number, job: Job, now: number): void {
    const before = this.job(id);
    if (before === null || JSON.stringify(withStates(before, job)) !== JSON.stringify(before)) this.put(id, job, now);
  }

  remove(id: number): void {
    const entry = this.#jobs.get(id);
    if (entry === undefined) throw new Error(`no job ${id}`);
    this.#exit(id, entry);
    this.#unreadable.delete(id);
    this.#deleteNode(id, entry.job.grp);
  }

  /** Gone for everybody at once; its node goes with a sweep. Its record, or its parent's, must say so already. */
  bury(id: number): void {
    const entry = this.#jobs.get(id);
    if (entry === undefined) throw new Error(`no job ${id}`);
    this.#exit(id, entry);
    this.#dead.add(id);
  }

  get hasDead(): boolean {
    return this.#dead.size > 0;
  }

  /** Deletes some of what is dead: children were buried before their parents. */
  sweep(most: number): void {
    for (const id of [...this.#dead].slice(0, most)) {
      this.#dead.delete(id);
      this.#deleteNode(id, undefined);
    }
  }

  /** A run has ended and is archived. */
  archive(id: number, token: string, done: Done): void {
    this.#note({ kind: "done", id, token, done });
  }

  rememberEnd(token: string, id: number): void {
    this.#ended.set(token, id);
    // Many at once: the front of a map that is nibbled at grows slow.
    if (this.#ended.size < 2 * ENDED_REMEMBERED) return;
    for (const old of [...this.#ended.keys()].slice(0, ENDED_REMEMBERED)) this.#ended.delete(old);
  }

  hasEnded(token: string | null, id: number): boolean {
    return token !== null && this.#ended.get(token) === id;
  }

  /** A lease that was renewed costs no write: its deadline lives here alone. */
  renew(id: number, now: number): void {
    const entry = this.#jobs.get(id);
    if (entry?.lease == null) return;
    this.#leases.remove(entry.lease);
    entry.lease = this.#addLease(id, leaseEnd(entry.job, now));
  }

  /** Leases that have run out. */
  lapsed(now: number, most: number): readonly number[] {
    const ids: number[] = [];
    const taken: LeaseSlot[] = [];
    for (let head = this.#leases.first(); head !== null && head.deadline <= now; head = this.#leases.first()) {
      if (ids.length === most) break;
      this.#leases.remove(head);
      taken.push(head);
      ids.push(head.id);
    }
    for (const slot of taken) this.#leases.add(slot);
    return ids;
  }

  /** Removes cancelled jobs whose time is over, so many at most. */
  removeCancelled(now: number, most: number): void {
    for (let n = 0; n < most; n++) {
      const id = this.#cancelled.nextToGo(now);
      if (id === null) return;
      this.remove(id);
    }
  }

  promote(now: number): void {
    this.#now = now;
    // Not spread into one call: all jobs of a shard may be due at once.
    for (const slot of this.index.promote(now)) this.#woken.push(slot);
  }

  /** When something will happen by itself. */
  nextEvent(): number | null {
    const lease = this.#leases.first()?.deadline ?? Infinity;
    const next = Math.min(this.index.nextDue() ?? Infinity, lease, this.#cancelled.nextMoment() ?? Infinity);
    return next === Infinity ? null : next;
  }

  /** What the last decision wants written, and forgets it. */
  takeUnits(): readonly Unit[] {
    const units = this.#units;
    if (units.at(-1)?.length === 0) units.pop();
    this.#units = [[]];
    return units;
  }

  /** A decision broke off: what it wanted written is none of the next one's. Whether there was anything. */
  discardUnits(): boolean {
    return this.takeUnits().length > 0;
  }

  /** Jobs that became ready since, and forgets them. */
  takeWoken(): readonly Slot[] {
    const woken = this.#woken;
    this.#woken = [];
    return woken;
  }

  #note(change: Change): void {
    this.#units.at(-1)?.push(change);
  }

  #load({ jobs, marks, versions }: Loaded, now: number): void {
    const versionOf = (id: number): number => versions?.get(id)?.record ?? 0;
    for (const [id, job] of jobs) {
      this.#blocks.add(id);
      if (job.grp !== undefined && marks.has(job.grp)) this.#join(job.grp, id);
    }
    const parentOf = (job: Job): Job | null => (job.parent === undefined ? null : (jobs.get(job.parent) ?? null));
    const later: [number, Job][] = [];
    const dead: number[] = [];
    // Parents first: a child's place depends on its parent's phase, and a dead child goes before its parent.
    for (const [id, job] of jobs) {
      if (job.parent !== undefined) later.push([id, job]);
      else if (isOver(job, null, marks)) dead.push(id);
      else this.#enter(id, job, now, versionOf(id));
    }
    for (const [id, job] of later) {
      if (isOver(job, parentOf(job), marks)) this.#dead.add(id);
      else this.#enter(id, job, now, versionOf(id));
    }
    for (const id of dead) this.#dead.add(id);
    for (const mark of marks) if (!this.#groups.has(mark)) this.#note({ kind: "unmark", group: mark });
    this.cut();
    this.#blocks.dropEmpty();
  }

  #enter(id: number, job: Job, now: number, version = 0): void {
    const type = this.#types.join(id, job);
    const entry: Entry = { job, version, type, slot: null, lease: null, began: now, counted: job.state };
    this.#jobs.set(id, entry);
    this.#ofTenant.set(job.tenant, this.sizeOf(job.tenant) + 1);
    this.#families.join(id, job);
    this.#cancelled.note(id, job);
    this.#file(id, entry, now);
    this.#lease(id, entry, now);
  }

  #exit(id: number, entry: Entry): void {
    this.#jobs.delete(id);
    const left = this.sizeOf(entry.job.tenant) - 1;
    if (left > 0) this.#ofTenant.set(entry.job.tenant, left);
    else this.#ofTenant.delete(entry.job.tenant);
    this.#unfile(entry);
    this.#types.leave(id, entry.type);
    this.#families.leave(id, entry.job);
    this.#cancelled.forget(id);
    this.#unlease(id, entry);
  }

  /** In its place: most changes leave most of what is known of a job as it was. */
  #replace(id: number, entry: Entry, job: Job, now: number): void {
    const old = entry.job;
    this.#unfile(entry);
    if (job.name !== old.name) {
      this.#types.leave(id, entry.type);
      entry.type = this.#types.join(id, job);
    }
    if (job.parent !== undefined) {
      this.#families.leave(id, old);
      this.#families.join(id, job);
    }
    this.#cancelled.note(id, job);
    if (job.lease?.token === old.lease?.token) entry.job = job;
    else {
      this.#unlease(id, entry);
      entry.job = job;
      this.#lease(id, entry, now);
    }
    this.#file(id, entry, now);
  }

  #refile(id: number, now: number): void {
    const entry = this.#jobs.get(id);
    if (entry === undefined) return;
    this.#unfile(entry);
    this.#file(id, entry, now);
  }

  #file(id: number, entry: Entry, now: number): void {
    entry.counted = this.stateOf(entry.job);
    count(entry.type, entry.counted, 1);
    entry.slot = this.#place(id, entry.job, entry.counted, now);
  }

  #unfile(entry: Entry): void {
    count(entry.type, entry.counted, -1);
    if (entry.slot !== null) this.index.remove(entry.slot);
    entry.slot = null;
  }

  #lease(id: number, entry: Entry, now: number): void {
    const { lease } = entry.job;
    if (lease === undefined) return;
    entry.lease = this.#addLease(id, leaseEnd(entry.job, now));
    // Of one that an owner before us gave away, too.
    entry.began = entry.job.lastRun ?? now;
    if (entry.job.mock !== true) this.usage.jobsStarted(entry.job.tenant, entry.began);
    if (lease.worker === "") return;
    const held = this.#byWorker.get(lease.worker);
    if (held === undefined) this.#byWorker.set(lease.worker, new Set([id]));
    else held.add(id);
  }

  #unlease(id: number, entry: Entry): void {
    if (entry.lease !== null) this.#leases.remove(entry.lease);
    entry.lease = null;
    const { lease } = entry.job;
    if (lease === undefined) return;
    if (entry.job.mock !== true) this.usage.jobsStopped(entry.job.tenant, entry.began, this.#now);
    const held = this.#byWorker.get(lease.worker);
    held?.delete(id);
    if (held?.size === 0) this.#byWorker.delete(lease.worker);
  }

  #place(id: number, job: Job, state: State, now: number): Slot | null {
    if (state !== "QUEUED" && state !== "RUNQUEUED") return null;
    const { tenant, name, priority, nextRun } = job;
    const slot: Slot = { at: -1, heap: null, id, tenant, name, mock: job.mock === true, priority, nextRun };
    if (this.index.add(slot, now)) this.#woken.push(slot);
    return slot;
  }
  #addLease(id: number, deadline: number): LeaseSlot | null {
    if (deadline === Infinity) return null;
    const slot: LeaseSlot = { at: -1, id, deadline };
    this.#leases.add(slot);
    return slot;
  }

  #join(group: string, id: number): void {
    this.#groups.set(group, (this.#groups.get(group) ?? new Set()).add(id));
  }

  /** The mark goes when nothing needs it any more. */
  #leave(group: string, id: number): void {
    const members = this.#groups.get(group);
    if (members?.delete(id) !== true || members.size > 0) return;
    this.#groups.delete(group);
    this.#note({ kind: "unmark", group });
  }

  #deleteNode(id: number, group: string | undefined): void {
    this.#note({ kind: "delete", id });
    if (group !== undefined) this.#leave(group, id);
    this.#blocks.remove(id);
  }
}
