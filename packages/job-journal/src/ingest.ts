/**
 * Takes a shard's lines in: reserve, read, ask the owner to create their jobs, sync. Whoever dies between the last two asks
 * again for jobs that are there, and the owner, which keeps the last id of each journal, answers for them without making
 * any twice. While nobody owns the shard the lines wait.
 */
import {
  type BlobStore,
  CREATES_PER_TRANSACTION,
  type JournalledJob,
  type Reply,
  TRANSACTION_BYTES,
} from "@sluice/job-queue";
import type { Line } from "./batch-text.ts";
import type { JobJournal } from "./job-journal.ts";
import { jobOfLine } from "./new-jobs.ts";
import type { Later, ShardQueue } from "./queue.ts";
import type { Failpoint, JobJournalStats } from "./types.ts";

export interface IngestHooks {
  readonly onIngested?: (shard: number, jobs: number) => void;
  /** Nobody could be asked, or nobody knows: the lines are tried again after a rest. */
  readonly onWaiting?: (shard: number, why: string) => void;
  /** What no owner has a part in: a disk, or a mistake of ours. The same. */
  readonly onFailure?: (shard: number, error: unknown) => void;
  /** This line can be no job, for a reason that does not go away: it is skipped, and told here for good. */
  readonly onRefused?: (shard: number, line: Line, why: string) => void;
}

export interface IngestPorts {
  readonly shard: number;
  readonly guest: string;
  readonly journal: JobJournal;
  readonly queue: ShardQueue;
  readonly blobs: BlobStore | null;
  readonly later: Later;
  readonly hooks: IngestHooks;
  readonly failpoint?: (step: Failpoint) => Promise<void>;
}

export interface Ingest {
  /** Takes no more; what is under way is finished. */
  stop(): Promise<void>;
}

/** Lines are held in memory while they are taken in, and a line may have a megabyte: fewer where they are large, by what they have on average. */
const LINES = { least: 50, most: 4 * CREATES_PER_TRANSACTION } as const;
const READ_BYTES = 4 * 1024 * 1024;
/** Far above what an answer takes; a reader that dies takes its reservation along anyway. */
const RESERVED_MS = 120_000;
const REST_MS = { first: 100, longest: 5_000 } as const;
/** Three blocks: one in use, two for the time when nobody can be asked, in which a crash may cost some. */
const STOCK = 2_001;

export function startIngest(ports: IngestPorts): Ingest {
  const loop = new IngestLoop(ports);
  const running = loop.run();
  return { stop: () => (loop.stop(), running) };
}

class IngestLoop {
  readonly #ports: IngestPorts;
  #stopped = false;
  #wake: (() => void) | null = null;
  #woken = false;
  #restMs: number = REST_MS.first;

  constructor(ports: IngestPorts) {
    this.#ports = ports;
  }

  async run(): Promise<void> {
    const unlisten = this.#ports.journal.onWritten(() => this.#alarm());
    while (!this.#stopped) {
      const isWell = await this.#round();
      if (isWell) this.#restMs = REST_MS.first;
      if (!isWell) await this.#rest(this.#restMs);
      else if (this.#ports.journal.stats().lines === 0) await this.#rest(null);
      if (!isWell) this.#restMs = Math.min(2 * this.#restMs, REST_MS.longest);
    }
    unlisten();
  }

  stop(): void {
    this.#stopped = true;
    this.#alarm();
  }

  /** False: the lines wait, and are tried again after a rest. A full disk must not end the process in which they stand. */
  async #round(): Promise<boolean> {
    const { shard, hooks } = this.#ports;
    try {
      const problem = (await this.#takeSome()) ?? (await restock(this.#ports));
      if (problem !== null) hooks.onWaiting?.(shard, problem);
      return problem === null;
    } catch (error) {
      hooks.onFailure?.(shard, error);
      return false;
    }
  }

  #alarm(): void {
    this.#woken = true;
    // New lines do not make an owner: a rest after a failure lasts.
    if (this.#wake !== null && (this.#stopped || this.#restMs === REST_MS.first)) this.#wake();
  }

  /** Until lines are written if `ms` is null; else that long. */
  #rest(ms: number | null): Promise<void> {
    if (this.#stopped || (ms === null && this.#woken)) {
      this.#woken = false;
      return Promise.resolve();
    }
    return new Promise((resolve) => {
      const cancel = ms === null ? () => undefined : this.#ports.later(ms, () => this.#wake?.());
      this.#wake = () => {
        cancel();
        this.#wake = null;
        this.#woken = false;
        resolve();
      };
    });
  }

  /** Null: all is well. */
  async #takeSome(): Promise<string | null> {
    const { journal, failpoint } = this.#ports;
    const token = journal.readReserve(linesToRead(journal.stats()), RESERVED_MS);
    const read = await journal.read(token);
    if (!read.ok) return read.why;
    await failpoint?.("jobsRead");
    let problem: string | null = "they could not be read";
    try {
      problem = await this.#ingestAll(groupsOf(await this.#jobsOf(read.lines)));
    } finally {
      if (problem !== null) journal.release(token);
    }
    if (problem !== null) return problem;
    await failpoint?.("jobsIngested");
    const before = journal.stats().lines;
    const synced = await journal.rsync(token);
    if (!synced.ok) return synced.why;
    const isIdle = read.lines.length === 0 && before > 0 && journal.stats().lines === before;
    return isIdle ? "another reader has the lines" : null;
  }

  async #jobsOf(lines: readonly Line[]): Promise<readonly Ready[]> {
    const ready: Ready[] = [];
    for (const line of lines) {
      const job = await jobOfLine(line, this.#ports.blobs);
      if (typeof job === "string") this.#ports.hooks.onRefused?.(this.#ports.shard, line, job);
      else ready.push({ line, job: { id: line.id, tenant: line.tenant, at: line.atMs, job } });
    }
    return ready;
  }

  /** All under way at once. The owner refuses a group while the one before is not there; such are asked for again, one by one. */
  async #ingestAll(groups: readonly (readonly Ready[])[]): Promise<string | null> {
    const replies = await Promise.all(groups.map((group, n) => this.#ask(group, lastOf(groups[n - 1] ?? []))));
    for (const [n, group] of groups.entries()) {
      const problem = this.#isDone(group, replies[n]) ? null : await this.#ingest(group);
      if (problem !== null) return problem;
    }
    return null;
  }

  async #ingest(group: readonly Ready[]): Promise<string | null> {
    const reply = await this.#ask(group, 0);
    if (typeof reply === "string") return reply;
    if (this.#isDone(group, reply)) return null;
    if (reply.status.code >= 500) return reply.status.text;
    return this.#afterRefusal(group, reply.status.text);
  }

  #isDone(group: readonly Ready[], reply: Reply | string | undefined): boolean {
    if (typeof reply !== "object" || reply.status.code !== 200) return false;
    this.#ports.hooks.onIngested?.(this.#ports.shard, group.length);
    return true;
  }

  /** One of them can be no job: the others are. */
  async #afterRefusal(group: readonly Ready[], why: string): Promise<string | null> {
    const [only] = group;
    if (group.length === 1 && only !== undefined) {
      this.#ports.hooks.onRefused?.(this.#ports.shard, only.line, why);
      return null;
    }
    const middle = Math.ceil(group.length / 2);
    return (await this.#ingest(group.slice(0, middle))) ?? (await this.#ingest(group.slice(middle)));
  }

  async #ask(group: readonly Ready[], after: number): Promise<Reply | string> {
    const { queue, shard, guest } = this.#ports;
    const jobs = group.map(({ job }) => job);
    const command = { verb: "IngestAdds", guest, file: "log", offset: lastOf(group), after, jobs } as const;
    const outcome = await queue.routeShard(shard, command);
    if (outcome.kind === "reply") return outcome.reply;
    return outcome.kind === "unknown" ? "not known whether they were taken in" : outcome.why;
  }
}

interface Ready {
  readonly line: Line;
  readonly job: JournalledJob;
}

const lastOf = (group: readonly Ready[]): number => group.at(-1)?.line.id ?? 0;

function linesToRead({ lines, bytes }: JobJournalStats): number {
  const fitting = Math.floor((READ_BYTES * lines) / Math.max(1, bytes));
  return Math.min(Math.max(fitting, LINES.least), LINES.most);
}

/** What one transaction takes. */
function groupsOf(ready: readonly Ready[]): readonly (readonly Ready[])[] {
  const groups: Ready[][] = [];
  let room = 0;
  for (const each of ready) {
    const { name, data } = each.job.job;
    // JSON inside of JSON: a character may become two.
    const bytes = 2 * (data.text.length + name.length) + 400;
    if (bytes > room || groups.at(-1)?.length === CREATES_PER_TRANSACTION) {
      groups.push([]);
      room = TRANSACTION_BYTES;
    }
    room -= bytes;
    groups.at(-1)?.push(each);
  }
  return groups;
}

/** Null: there are enough ids besides those that are wanted, or there are now. */
export async function restock(
  ports: Pick<IngestPorts, "shard" | "guest" | "journal" | "queue">,
  wanted = 0,
): Promise<string | null> {
  const { shard, guest, journal, queue } = ports;
  while (journal.stats().idsLeft < STOCK + wanted) {
    const outcome = await queue.routeShard(shard, { verb: "ReserveIds", guest });
    if (outcome.kind !== "reply") return `no ids: ${outcome.kind === "unknown" ? "no answer" : outcome.why}`;
    const { content, status } = outcome.reply;
    if (content.kind !== "block") return `no ids: ${status.text}`;
    await journal.addIds(content.first, content.last);
  }
  return null;
}
