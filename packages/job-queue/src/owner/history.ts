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
import { type DoneIndex, type DoneName, laterFirst } from "./done-index.ts";

const READ_AT_ONCE = 200;
/** What a cursor begins with when the tree has been read to its end. */
const KEPT = "kept:";

export interface HistoryPorts {
  readonly session: Session;
  readonly shard: number;
  readonly index: DoneIndex;
  readonly archive: RunArchive | null;
}

interface Page {
  readonly runs: readonly EndedRun[];
  readonly next: string | null;
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

  /** A page that leads on may have fewer runs than were asked for, even none: those read were not wanted. */
  async list({ tenant, names, after, limit }: ListRuns): Promise<Answer> {
    const matches = names?.map(parseNames);
    const wanted = ({ done }: EndedRun): boolean =>
      done.tenant === tenant && (matches?.some((match) => matchesName(match, done.name)) ?? true);
    const most = Math.min(Math.max(1, limit), LIST_MOST);
    const found: RunView[] = [];
    let next: string | null = after ?? "";
    for (let read = 0; next !== null && found.length < most && read < RUNS_READ_MOST; read += READ_AT_ONCE) {
      // Not more than fit: what was read and is not shown would be lost behind the cursor.
      const page: Page | null = await this.#page(next, Math.min(READ_AT_ONCE, most - found.length));
      if (page === null) return null;
      for (const run of page.runs) if (wanted(run)) found.push(runView(short(run)));
      next = page.next;
    }
    return reply(STATUS.ok, { kind: "runs", runs: found, next });
  }

  async #page(cursor: string, limit: number): Promise<Page | null> {
    if (cursor.startsWith(KEPT)) return this.#kept(cursor.slice(KEPT.length), limit);
    const { session, shard } = this.#ports;
    const names = this.#namesAfter(cursor, limit);
    const read = await readRuns(session, shard, names, "short");
    if (read === "silence") return null;
    const last = names.at(-1);
    const next = names.length < limit || last === undefined ? this.#ports.archive && KEPT : cursorOf(last);
    return { runs: read.flatMap((each) => each?.run ?? []), next };
  }

  async #kept(after: string, limit: number): Promise<Page> {
    const page = await this.#ports.archive?.list(this.#ports.shard, after === "" ? null : after, limit);
    return { runs: page?.runs ?? [], next: page?.next == null ? null : `${KEPT}${page.next}` };
  }

  #namesAfter(cursor: string, limit: number): readonly DoneName[] {
    const { index } = this.#ports;
    const [from = "", id = "", token = ""] = cursor.split("/");
    const directories = index.directories();
    const start = cursor === "" ? 0 : directories.findIndex((directory) => !isNewer(directory, from));
    const names: DoneName[] = [];
    for (const directory of start < 0 ? [] : directories.slice(start)) {
      const entries = index.entriesOf(directory);
      const seen = { id: Number(id), token };
      for (const entry of entries) if (directory !== from || laterFirst(entry, seen) > 0) names.push(entry);
      if (names.length >= limit) break;
    }
    return names.slice(0, limit);
  }

  /** Newest first; null: nobody answers. */
  async #runsOf(id: number, tenant: string): Promise<readonly EndedRun[] | null> {
    const { session, shard, index, archive } = this.#ports;
    const names = [...index.of(id)].sort(laterFirst).slice(0, RUNS_SHOWN);
    const read = await readRuns(session, shard, names, "whole");
    if (read === "silence") return null;
    const kept = names.length < RUNS_SHOWN ? ((await archive?.runsOf(id)) ?? []) : [];
    // A run may be kept already and not yet be deleted, or be kept twice.
    const byToken = new Map([...kept, ...read.flatMap((each) => each?.run ?? [])].map((run) => [run.token, run]));
    return [...byToken.values()]
      .filter(({ done }) => done.tenant === tenant)
      .sort((a, b) => b.done.ended - a.done.ended || laterFirst(a, b));
  }
}

const cursorOf = ({ directory, id, token }: DoneName): string => `${directory}/${id}/${token}`;
const isNewer = (directory: string, than: string): boolean => {
  const [hour = "", part = "0"] = directory.split("-");
  const [otherHour = "", otherPart = "0"] = than.split("-");
  return hour === otherHour ? Number(part) > Number(otherPart) : hour > otherHour;
};

/** A large result is for who asks for the job. */
function short(run: EndedRun): EndedRun {
  const { result, ...done } = run.done;
  return result === undefined || Buffer.byteLength(result) <= INLINE_RESULT_BYTES ? run : { ...run, done };
}
