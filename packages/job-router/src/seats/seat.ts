/**
 * One shard as this process sees it: ours, another's, or nobody's. It takes the shard when that is ours to do, and gives
 * it up for whoever is better placed. Every decision is by the last look, and the tree refuses what that look missed.
 */
import { type Notice, type OwnerPorts, ownShard, type ShardOwner } from "@sluice/job-queue";
import { Changes } from "../changes.ts";
import type { RouterPorts } from "../ports.ts";
import { isBetterPlaced, ranking } from "../placement.ts";
import { endingOf, Endings } from "./endings.ts";
import type { Ensemble } from "./ensemble.ts";
import type { SeenTerm } from "./sight.ts";

/** A shard without an owner is left this long to who is best placed. */
const YIELD_MS = 1_000;
/** One deposition of a shard in this time, so that a broken link makes no see-saw. */
const DEPOSE_AGAIN_MS = 10_000;
/** After a taking that failed. */
const AGAIN_MS = 100;
/** How often the owner is asked again to hand over. */
const ASK_AGAIN_MS = 500;
/** Who was deposed lets this pass before it asks for the shard: somebody could not reach it. */
const AFTER_DEPOSED_MS = 60_000;

export interface SeatPorts extends Pick<
  RouterPorts,
  "apiId" | "clock" | "later" | "log" | "hooks" | "archiving" | "redo"
> {
  readonly pipelineHooks?: RouterPorts["pipelineHooks"];
  readonly limits?: RouterPorts["limits"];
  readonly ensemble: Ensemble;
  /** A job is due that nobody waited for. */
  readonly onDue: () => void;
  readonly onChange: () => void;
  /** Asks the owner to leave us the shard. False: it cannot be reached just now. */
  readonly askFor: (shard: number, seen: SeenTerm) => boolean;
}

const SAID = {
  lapse: "a job was lost: it is offered again",
  poison: "a job is given to nobody any more: it is FAILED",
  chain: "a job came in from another one",
} as const satisfies Record<Notice["what"], string>;

const UNREADABLE = "a record cannot be read: it is set aside, the rest of the shard is served";

export type SeatState = "here" | "taking" | "peer" | "vacant" | "paused" | "unreachable";

export class Seat {
  readonly shard: number;
  readonly changes: Changes;
  readonly #ports: SeatPorts;
  readonly #endings = new Endings();
  #owner: ShardOwner | null = null;
  #taking: Promise<void> | null = null;
  #leaving: Promise<void> | null = null;
  #stopped = false;
  #vacantSince: number | null = null;
  #deposedAt = -Infinity;
  #lostAt = -Infinity;
  #askedAt = -Infinity;
  #stopTimer: (() => void) | null = null;

  constructor(shard: number, ports: SeatPorts) {
    this.shard = shard;
    this.#ports = ports;
    this.changes = new Changes(ports.later);
  }

  /** Who answers here and now; null when that is not us, or not at this moment. */
  get serving(): ShardOwner | null {
    return this.#leaving === null && this.#ports.ensemble.session !== null ? this.#owner : null;
  }

  /** Ours, able to answer or not. */
  get owner(): ShardOwner | null {
    return this.#owner;
  }

  get ensemble(): Ensemble {
    return this.#ports.ensemble;
  }

  get isLeaving(): boolean {
    return this.#leaving !== null;
  }

  /** Who owns it, if that is another process. While we take the shard, nothing more is given to who has it. */
  get elsewhere(): SeenTerm | null {
    if (this.#owner !== null || this.#taking !== null) return null;
    const seen = this.#ports.ensemble.sight.terms.get(this.shard);
    return seen === undefined || seen.apiId === this.#ports.apiId ? null : seen;
  }

  get state(): SeatState {
    if (this.#owner !== null) return "here";
    if (this.#ports.ensemble.session === null) return "unreachable";
    if (this.#taking !== null) return "taking";
    if (this.elsewhere !== null) return "peer";
    return this.#endings.restMs(this.#now()) > 0 ? "paused" : "vacant";
  }

  /** Looks what is to be done; called whenever something may have changed. */
  review(): void {
    this.changes.tell();
    this.#stopTimer?.();
    this.#stopTimer = null;
    const { ensemble, apiId } = this.#ports;
    const isBusy = this.#owner !== null || this.#taking !== null || this.#leaving !== null;
    if (this.#stopped || isBusy || ensemble.session === null) return;
    const seen = ensemble.sight.terms.get(this.shard);
    if (seen !== undefined) this.#vacantSince = null;
    const restMs = this.#endings.restMs(this.#now());
    if (restMs > 0) this.#reviewIn(restMs);
    else if (seen === undefined) this.#considerVacant();
    // Of an earlier life, or of a taking that got no further: nobody serves it.
    else if (seen.apiId === apiId) this.#take(seen.term);
    else this.#considerAsking(seen);
  }

  /** Its owner is dead, as far as we can see. True: we are taking the shard from it. */
  depose({ term, apiId }: SeenTerm): boolean {
    const now = this.#now();
    const seen = this.#ports.ensemble.sight.terms.get(this.shard);
    const isFree = !this.#stopped && this.#owner === null && this.#taking === null;
    if (!isFree || seen?.term !== term || now - this.#deposedAt < DEPOSE_AGAIN_MS) return false;
    if (this.#ports.ensemble.session === null || this.#endings.restMs(now) > 0) return false;
    this.#deposedAt = now;
    this.#ports.log.warn({ shard: this.shard, term, apiId }, "the owner does not answer: taking its shard");
    this.#take(term);
    return true;
  }

  /** A peer asks for our shard. It gets it if it is better placed. */
  handOver(term: number, apiId: string): void {
    if (this.#owner?.term.term !== term || this.#leaving !== null || this.#stopped) return;
    if (!isBetterPlaced(this.shard, apiId, this.#ports.apiId)) return;
    this.#ports.log.info({ shard: this.shard, term, apiId }, "handing the shard over");
    this.#leave().catch((error: unknown) =>
      this.#ports.log.error({ shard: this.shard, err: error }, "the shard could not be handed over"),
    );
  }

  /** Finishes what is under way, and takes no more. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#stopTimer?.();
    await this.#taking;
    await this.#leave();
  }

  #considerVacant(): void {
    const { ensemble, apiId } = this.#ports;
    if (!ensemble.sight.members.has(apiId)) return;
    const now = this.#now();
    this.#vacantSince ??= now;
    const waited = now - this.#vacantSince;
    if (waited >= YIELD_MS || ranking(this.shard, ensemble.sight.members.keys())[0] === apiId) this.#take(null);
    else this.#reviewIn(YIELD_MS - waited);
  }

  #considerAsking(seen: SeenTerm): void {
    const { ensemble, apiId, askFor } = this.#ports;
    const { members } = ensemble.sight;
    if (!members.has(apiId) || !members.has(seen.apiId) || ranking(this.shard, members.keys())[0] !== apiId) return;
    const now = this.#now();
    const waitMs = Math.max(this.#lostAt + AFTER_DEPOSED_MS, this.#askedAt + ASK_AGAIN_MS) - now;
    if (waitMs > 0) {
      this.#reviewIn(waitMs);
      return;
    }
    if (askFor(this.shard, seen)) this.#askedAt = now;
    this.#reviewIn(ASK_AGAIN_MS);
  }

  #take(from: number | null): void {
    this.#taking = this.#tryToTake(from).finally(() => {
      this.#taking = null;
      this.#ports.onChange();
      if (this.#owner === null && !this.#stopped) this.#reviewIn(AGAIN_MS);
    });
  }

  async #tryToTake(from: number | null): Promise<void> {
    const { ensemble, apiId, later, log, hooks, pipelineHooks, limits, archiving, redo, onDue } = this.#ports;
    const { session } = ensemble;
    if (session === null) return;
    const optional = {
      ...(pipelineHooks && { hooks: pipelineHooks }),
      ...(limits && { limits }),
      ...(redo && { redo }),
      ...(archiving && { archive: archiving.archive, archiveHooks: this.#archiveHooks() }),
    };
    const owning = await ownShard(
      this.shard,
      {
        session,
        apiId,
        later,
        onDue,
        onNotices: (all) => this.#tell(all),
        onMistake: (error, verb) =>
          log.error({ shard: this.shard, verb, err: error }, "a command could not be decided"),
        ...optional,
      },
      from,
    );
    if (!owning.ok) {
      if (owning.isBroken === true) this.#onBroken(owning.why);
      else log.info({ shard: this.shard, why: owning.why }, "the shard was not taken");
      ensemble.look();
      return;
    }
    const { owner } = owning;
    this.#vacantSince = null;
    this.#owner = owner;
    hooks?.onTakeover?.(from === null ? "nobody" : "peer");
    log.info({ shard: this.shard, term: owner.term.term, jobs: owner.size }, "owning the shard");
    for (const { id, problem } of owner.quarantined)
      log.error({ shard: this.shard, ...(id !== null && { job: id }), problem }, UNREADABLE);
    owner.over.addEventListener("abort", () => this.#onOver(owner), { once: true });
    if (owner.over.aborted) this.#onOver(owner);
  }

  #archiveHooks(): NonNullable<OwnerPorts["archiveHooks"]> {
    const { hooks, log } = this.#ports;
    const { shard } = this;
    return {
      onArchived: (runs) => hooks?.onArchived?.(runs),
      onFailure(err) {
        hooks?.onArchiveFailure?.();
        log.error({ shard, err }, "runs could not be archived: they stay in the tree, and it is tried again");
      },
      onUnreadable: (path) => log.error({ shard, path }, "an entry of the tree's archive cannot be read: it stays"),
      onHeldBack: (what) => hooks?.onHeldBack?.(what),
    };
  }

  /** It was ours, and could not be loaded: nobody else can, and trying again at once only writes terms. */
  #onBroken(why: string): void {
    const { hooks, log } = this.#ports;
    log.error({ shard: this.shard, why }, "the shard cannot be loaded: nobody serves it");
    hooks?.onTermEnd?.("unloadable");
    this.#noteEnding();
  }

  #noteEnding(): void {
    const { hooks, log } = this.#ports;
    if (!this.#endings.note(this.#now())) return;
    hooks?.onPause?.();
    log.error({ shard: this.shard }, "the shard's terms keep ending: it rests for a minute");
  }

  #tell(notices: readonly Notice[]): void {
    const { log, hooks } = this.#ports;
    for (const { what, id, ...of } of notices) {
      hooks?.onNotice?.(what);
      log[what === "poison" ? "warn" : "info"]({ shard: this.shard, job: id, ...of }, SAID[what]);
    }
  }

  #onOver(owner: ShardOwner): void {
    if (this.#owner !== owner) return;
    this.#owner = null;
    const { hooks, log, onChange, ensemble } = this.#ports;
    const why = endingOf(owner.over.reason);
    hooks?.onTermEnd?.(why);
    if (why !== "left")
      log.warn({ shard: this.shard, term: owner.term.term, why: String(owner.over.reason) }, "term over");
    if (why === "deposed") this.#lostAt = this.#now();
    if (why === "refused") this.#noteEnding();
    ensemble.look();
    onChange();
  }

  async #leave(): Promise<void> {
    this.#leaving ??= (this.#owner?.resign() ?? Promise.resolve()).finally(() => {
      this.#leaving = null;
      this.#ports.onChange();
    });
    await this.#leaving;
  }

  #reviewIn(ms: number): void {
    this.#stopTimer?.();
    this.#stopTimer = this.#ports.later(ms, () => this.review());
  }

  #now(): number {
    return this.#ports.clock.monotonicMs();
  }
}
