/** What is known of runs that have ended: in the tree, and where they are kept when they have left it. */
import type { Session } from "@sluice/zookeeper";
import { INLINE_RESULT_BYTES, LIST_MOST, RUNS_READ_MOST, RUNS_SHOWN } from "../limits.ts";
import { matchesName, parseNames } from "../names.ts";
import type { EndedRun, RunArchive } from "../run-archive.ts";
import { type Answer } from "../queue-port.ts";
import type { ListRuns, OneJob } from "../shard/commands.ts";
import { type JobRecord, type Reply, reply, type RunView } from "../shard/views.ts";
import { recordOfRun, runView } from "../shard/runs.ts";
import { STATUS } from "../shard/statuses.ts";
import { readRuns } from "./done-entries.ts";
import { type DoneEntry, type DoneIndex, laterFirst } from "./done-index.ts";
import {
  FROM_NEWEST,
  keyOfEntry,
  keyOfRun,
  newerFirst,
  parseCursor,
  printCursor,
  type RunsCursor,
} from "./runs-cursor.ts";

const READ_AT_ONCE = 200;

export interface HistoryPorts {
  readonly session: Session;
  readonly shard: number;
  readonly index: DoneIndex;
  readonly archive: RunArchive | null;
}

interface Wanted {
  readonly tenant: string;
  /** Null: some cannot be named. */
  readonly names: readonly string[] | null;
  readonly isWanted: (run: EndedRun) => boolean;
}

interface Page {
  readonly runs: readonly EndedRun[];
  readonly next: RunsCursor | null;
}

export class History {
  readonly #ports: HistoryPorts;

  constructor(ports: HistoryPorts) {
    this.#ports = ports;
  }

  /** The answer of who has only the living in memory, with the runs, or made of them alone. Null: nobody answers. */
  async describe({ tenant, id }: OneJob, { content }: Reply): Promise<Answer> {
    const runs = await this.#runsOf(id, tenant);
    if (runs === null) return null;
    const [last] = runs;
    const living: JobRecord | null = content.kind === "record" ? content.record : null;
    const record = living ?? (last === undefined ? null : recordOfRun(last));
    if (record === null) return reply(STATUS.noSuchJob);
    const views = runs.slice(0, RUNS_SHOWN).map((run, n) => runView(n === 0 ? run : short(run)));
    const end = views[0] ?? { exit: null, result: null, resultRef: null };
    const { exit, result, resultRef } = end;
    return reply(STATUS.ok, { kind: "record", record: { ...record, exit, result, resultRef, runs: views } });
  }

  /** Whether this run of the job has ended, however long ago it left the tree. Null: nobody answers. */
  async hasEnded(tenant: string, id: number, token: string): Promise<boolean | null> {
    const named = this.#ports.index.of(id).filter((entry) => entry.token === token);
    const runs = named.length > 0 ? await this.#read(named, "short") : await this.#keptOf(id);
    return runs?.some((run) => run.token === token && run.done.tenant === tenant) ?? null;
  }

  /** Of a job that is gone. Null: nobody answers. */
  async hasRuns(tenant: string, id: number): Promise<boolean | null> {
    const runs = await this.#runsOf(id, tenant);
    return runs === null ? null : runs.length > 0;
  }

  /** A page that leads on may have fewer runs than were asked for, even none: those read were not wanted. */
  async list({ tenant, names, after, limit }: ListRuns): Promise<Answer> {
    const matches = names?.map(parseNames);
    const wanted: Wanted = {
      tenant,
      names: literalNames(matches),
      isWanted: ({ done }) =>
        done.tenant === tenant && (matches?.some((match) => matchesName(match, done.name)) ?? true),
    };
    const most = Math.min(Math.max(1, limit), LIST_MOST);
    const found: RunView[] = [];
    let next: RunsCursor | null = after === undefined ? this.#start() : parseCursor(after);
    for (let read = 0; next !== null && found.length < most && read < RUNS_READ_MOST; read += READ_AT_ONCE) {
      // Not more than fit: what was read and is not shown would be lost behind the cursor.
      const page: Page | null = await this.#page(next, Math.min(READ_AT_ONCE, most - found.length), wanted);
      if (page === null) return null;
      for (const run of page.runs) if (wanted.isWanted(run)) found.push(runView(short(run)));
      next = page.next;
    }
    return reply(STATUS.ok, { kind: "runs", runs: found, next: next && printCursor(next) });
  }

  #start(): RunsCursor {
    return { tree: null, since: this.#ports.archive?.head(this.#ports.shard) ?? "", archive: null };
  }

  async #page(cursor: RunsCursor, limit: number, wanted: Wanted): Promise<Page | null> {
    if (cursor.archive !== null) return this.#kept(cursor, cursor.archive, limit, wanted);
    const entries = this.#entriesAfter(cursor, limit);
    const read = await this.#read(entries, "short");
    if (read === null) return null;
    const last = entries.at(-1);
    const tree = last === undefined ? cursor.tree : keyOfEntry(last);
    const isLast = entries.length < limit;
    if (isLast && this.#ports.archive === null) return { runs: read, next: null };
    return { runs: read, next: { ...cursor, tree, archive: isLast ? FROM_NEWEST : null } };
  }

  async #kept(cursor: RunsCursor, after: string, limit: number, { tenant, names }: Wanted): Promise<Page | null> {
    const { archive, shard } = this.#ports;
    if (archive === null) return { runs: [], next: null };
    const { tree, since } = cursor;
    const asked = { tenant, names, since, limit, after: after === FROM_NEWEST ? null : after };
    const page = await archive.list(shard, asked);
    // What has left the tree since the first page was shown from there, down to where the tree was read.
    const runs = page.runs.filter(({ run, isNews }) => !isNews || tree === null || newerFirst(keyOfRun(run), tree) > 0);
    return { runs: runs.map(({ run }) => run), next: page.next === null ? null : { ...cursor, archive: page.next } };
  }

  #entriesAfter({ tree }: RunsCursor, limit: number): readonly DoneEntry[] {
    const rest: DoneEntry[] = [];
    for (const entry of this.#ports.index.all())
      if (tree === null || newerFirst(keyOfEntry(entry), tree) > 0) rest.push(entry);
    return rest.sort((a, b) => newerFirst(keyOfEntry(a), keyOfEntry(b))).slice(0, limit);
  }

  /** Null: nobody answers. What has left the tree meanwhile is in the archive. */
  async #read(entries: readonly DoneEntry[], how: "whole" | "short"): Promise<readonly EndedRun[] | null> {
    const { session, shard } = this.#ports;
    const unknown = entries.filter(({ done }) => done === null);
    const read = await readRuns(session, shard, unknown, how);
    if (read === "silence") return null;
    const found = new Map(unknown.map((entry, n) => [entry, read[n]]));
    const runs: EndedRun[] = [];
    for (const entry of entries) {
      const { id, token, done } = entry;
      const reading = found.get(entry);
      if (done !== null) runs.push({ id, token, done });
      else if (typeof reading === "object") runs.push(reading.run);
      else if (reading === "missing") for (const run of await this.#keptOf(id)) if (run.token === token) runs.push(run);
    }
    return runs;
  }

  async #keptOf(id: number): Promise<readonly EndedRun[]> {
    return (await this.#ports.archive?.runsOf(id, RUNS_SHOWN)) ?? [];
  }

  /** Newest first; null: nobody answers. */
  async #runsOf(id: number, tenant: string): Promise<readonly EndedRun[] | null> {
    const entries = [...this.#ports.index.of(id)].sort(laterFirst).slice(0, RUNS_SHOWN);
    const read = await this.#read(entries, "whole");
    if (read === null) return null;
    const kept = entries.length < RUNS_SHOWN ? await this.#keptOf(id) : [];
    // A run may be kept already and not yet be deleted, or be kept twice.
    const byToken = new Map([...kept, ...read].map((run) => [run.token, run]));
    return [...byToken.values()]
      .filter(({ done }) => done.tenant === tenant)
      .sort((a, b) => b.done.ended - a.done.ended || laterFirst(a, b));
  }
}

function literalNames(matches: readonly ReturnType<typeof parseNames>[] | undefined): readonly string[] | null {
  const names: string[] = [];
  for (const match of matches ?? []) {
    if (match.kind === "glob") return null;
    for (const name of match.names) names.push(name);
  }
  return matches === undefined ? null : names;
}

/** A large result is for who asks for the job. */
function short(run: EndedRun): EndedRun {
  const { result, ...done } = run.done;
  return result === undefined || Buffer.byteLength(result) <= INLINE_RESULT_BYTES ? run : { ...run, done };
}
