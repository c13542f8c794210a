/** What becomes of runs that have ended: told when somebody asks, and handed to the archive. */
import type { Op, Session } from "@sluice/zookeeper";
import type { EndedInTree } from "../limits.ts";
import type { RunArchive } from "../run-archive.ts";
import type { Command, DeleteJob } from "../shard/commands.ts";
import { type Reply, reply } from "../shard/views.ts";
import { STATUS } from "../shard/statuses.ts";
import { Archivist, type ArchivistHooks } from "./archive.ts";
import type { DoneIndex } from "./done-index.ts";
import { type ForgetPorts, forgetRuns } from "./forget-runs.ts";
import { History } from "./history.ts";

export interface ArchiveHooks extends ArchivistHooks {
  /** A command was refused because the archive is behind. */
  readonly onHeldBack?: (what: "creates" | "takes") => void;
}

export interface EndedRunsPorts {
  readonly session: Session;
  readonly shard: number;
  readonly index: DoneIndex;
  readonly later: (ms: number, wake: () => void) => () => void;
  readonly now: () => number;
  readonly write: (ops: readonly Op[]) => void;
  readonly written: () => Promise<boolean>;
  readonly archive?: RunArchive | undefined;
  readonly hooks?: ArchiveHooks | undefined;
  readonly limits?: EndedInTree | undefined;
}

export const ARCHIVE_LAGS = reply(STATUS.archiveLags);

export class EndedRuns {
  readonly #index: DoneIndex;
  readonly #hooks: ArchiveHooks;
  readonly #history: History;
  readonly #archivist: Archivist | null;
  readonly #unreadable: string[] = [];
  readonly #forgetting: ForgetPorts;

  constructor({ archive, hooks = {}, limits, ...ports }: EndedRunsPorts) {
    this.#index = ports.index;
    this.#hooks = hooks;
    this.#history = new History({ ...ports, archive: archive ?? null });
    const noting: ArchivistHooks = {
      ...hooks,
      onUnreadable: (path) => {
        this.#unreadable.push(path);
        hooks.onUnreadable?.(path);
      },
    };
    this.#forgetting = { ...ports, archive: archive ?? null, onUnreadable: noting.onUnreadable };
    this.#archivist =
      archive === undefined ? null : new Archivist({ ...ports, archive, hooks: noting, ...(limits && { limits }) });
  }

  /** Paths of entries that should have left the tree and cannot be read. */
  get unreadable(): readonly string[] {
    return this.#unreadable;
  }

  /** In the tree. */
  get size(): { readonly runs: number; readonly bytes: number } {
    return { runs: this.#index.size, bytes: this.#index.bytes };
  }

  /** The answer of who knows only the living, with what is known of the dead. Null: nobody answers. */
  answer(command: Command, answer: Reply): Reply | Promise<Reply | null> {
    if (command.verb === "DescribeJob") return this.#history.describe(command, answer);
    if (command.verb === "ListRuns") return this.#history.list(command);
    if (command.verb === "DeleteJob") return this.#deleted(command, answer);
    return mayHaveEnded(command, answer) ? this.#endAgain(command, answer) : answer;
  }

  /** Its job is gone when this is asked: the answer is given when its runs are gone, too. Those of a job that was gone before are a trace of it. */
  #deleted({ tenant, id, afterRun }: DeleteJob, answer: Reply): Reply | Promise<Reply | null> {
    const { status, content } = answer;
    if (content.kind === "deleted") return this.#forget(new Set(content.ids), reply(status));
    if (status.code !== STATUS.noSuchJob.code || afterRun === true) return answer;
    return this.#history.hasRuns(tenant, id).then((has) => {
      if (has === null) return null;
      return has ? this.#forget(new Set([id]), reply(STATUS.ok)) : answer;
    });
  }

  /** Null: some may be left. */
  async #forget(ids: ReadonlySet<number>, answer: Reply): Promise<Reply | null> {
    if (ids.size === 0) return answer;
    const work = (): Promise<boolean> => forgetRuns(this.#forgetting, ids);
    try {
      return (await (this.#archivist?.inTurn(work) ?? work())) ? answer : null;
    } catch (error) {
      this.#hooks.onFailure?.(error);
      return null;
    }
  }

  /** Nothing more comes in while what has ended cannot leave. */
  isHeldBack({ verb }: Command): boolean {
    if (verb !== "CreateJobs" && verb !== "IngestAdds" && verb !== "GetJobs") return false;
    const held = this.#archivist?.holdsBack ?? "nothing";
    if (held === "nothing" || (verb === "GetJobs" && held === "creates")) return false;
    this.#hooks.onHeldBack?.(verb === "GetJobs" ? "takes" : "creates");
    return true;
  }

  /** Something may have ended. */
  poke(): void {
    this.#archivist?.poke();
  }

  /** Runs that ended longer ago than this leave the tree. Answers how many. */
  leave(olderThanMs: number): Promise<number> {
    return this.#archivist?.empty(olderThanMs) ?? Promise.resolve(0);
  }

  stop(): void {
    this.#archivist?.stop();
  }

  /** The answer to an end may have been lost, and the run have left memory and tree since: it gets the first answer. */
  async #endAgain({ tenant, id, lease }: HeldEnd, answer: Reply): Promise<Reply | null> {
    const hasEnded = await this.#history.hasEnded(tenant, id, lease);
    if (hasEnded === null) return null;
    return hasEnded ? reply(STATUS.ok) : answer;
  }
}

interface HeldEnd {
  readonly tenant: string;
  readonly id: number;
  readonly lease: string;
}

/** It says how a run ended that is not in its holder's hand any more, and shows the lease. */
function mayHaveEnded(command: Command, { status }: Reply): command is Command & HeldEnd {
  const { verb } = command;
  if (verb !== "FinishJob" && verb !== "RetryJob" && verb !== "FailJob") return false;
  return command.lease !== null && command.remembered !== true && (status.code === 404 || status.code === 405);
}
