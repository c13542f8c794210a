/**
 * How much one collection may have in progress. Counted from the tree, at most once in LOOK_MS, and only while somebody submits;
 * what this process accepted since then is added. Several intakes can each let through what they accept between two looks.
 */
import type { Clock } from "@sluice/zookeeper";
import { type InProgress, NOTHING, plus } from "./in-progress.ts";

export interface QuotaLimits {
  readonly batches: number;
  readonly jobs: number;
  /** Of the queue's places, which all collections share. */
  readonly queued: number;
  readonly bytes: number;
}

export type QuotaName = keyof QuotaLimits;

export interface OverQuota {
  readonly kind: "over-quota";
  readonly profile: string;
  readonly limit: QuotaName;
  readonly inProgress: number;
  readonly most: number;
  /** The submission alone is larger than all that the collection may have. */
  readonly never: boolean;
}

export interface QuotaPorts {
  /** By profile; null = no answer. */
  readonly look: () => Promise<ReadonlyMap<string, InProgress> | null>;
  readonly limitsOf: (profile: string) => QuotaLimits;
  readonly clock: Pick<Clock, "monotonicMs">;
  /** For log and metrics. */
  readonly onRefused: (refused: OverQuota) => void;
}

export const LOOK_MS = 5_000;

interface Added {
  readonly atMs: number;
  readonly profile: string;
  readonly what: InProgress;
}

export class Quotas {
  readonly #ports: QuotaPorts;
  #counted: ReadonlyMap<string, InProgress> = new Map();
  #lookedAtMs = -Infinity;
  #looking: Promise<void> | null = null;
  #added: Added[] = [];
  readonly #held = new Map<symbol, { readonly profile: string; readonly bytes: number }>();

  constructor(ports: QuotaPorts) {
    this.#ports = ports;
  }

  /** Sees to it that the figures are not older than LOOK_MS. While the tree does not answer, the last ones count. */
  async refresh(): Promise<void> {
    if (this.#ports.clock.monotonicMs() - this.#lookedAtMs < LOOK_MS) return;
    this.#looking ??= this.#look().finally(() => (this.#looking = null));
    await this.#looking;
  }

  /** What is in the way of a batch with so many bytes; null: nothing. */
  refuses(profile: string, bytes: number): OverQuota | null {
    const limits = this.#ports.limitsOf(profile);
    const now = this.#inProgress(profile);
    const refused = overBy(profile, limits, { ...now, batches: now.batches + 1, jobs: now.jobs + 1, queued: 0 }, bytes);
    if (refused !== null) this.#ports.onRefused(refused);
    return refused;
  }

  /** Bytes that are on their way here; the answer is for their end. */
  hold(profile: string, bytes: number): () => void {
    const hold = Symbol(profile);
    this.#held.set(hold, { profile, bytes });
    return () => {
      this.#held.delete(hold);
    };
  }

  add(profile: string, what: Partial<InProgress>): void {
    this.#added.push({ atMs: this.#ports.clock.monotonicMs(), profile, what: { ...NOTHING, ...what } });
  }

  /** Why no more rows of the collection may become jobs just now; null when they may. */
  async expansionMustWait(profile: string): Promise<string | null> {
    await this.refresh();
    const { queued } = this.#inProgress(profile);
    const { queued: most } = this.#ports.limitsOf(profile);
    if (queued < most) return null;
    return `${profile} has ${queued} jobs in the queue; ${most} is its limit (COLLECTION_MAX_QUEUED_JOBS)`;
  }

  #inProgress(profile: string): InProgress {
    const own = this.#added.filter((each) => each.profile === profile).map(({ what }) => what);
    const held = [...this.#held.values()].filter((each) => each.profile === profile);
    const bytes = held.reduce((sum, each) => sum + each.bytes, 0);
    return [...own, { ...NOTHING, bytes }].reduce(plus, this.#counted.get(profile) ?? NOTHING);
  }

  async #look(): Promise<void> {
    const sinceMs = this.#ports.clock.monotonicMs();
    const counted = await this.#ports.look();
    if (counted === null) return;
    this.#counted = counted;
    this.#lookedAtMs = sinceMs;
    // What was accepted before the look is in it.
    this.#added = this.#added.filter(({ atMs }) => atMs >= sinceMs);
  }
}

function overBy(profile: string, limits: QuotaLimits, next: InProgress, bytes: number): OverQuota | null {
  const over = (limit: QuotaName, inProgress: number, never: boolean): OverQuota => ({
    kind: "over-quota",
    profile,
    limit,
    inProgress,
    most: limits[limit],
    never,
  });
  if (bytes > limits.bytes) return over("bytes", bytes, true);
  if (next.batches > limits.batches) return over("batches", next.batches - 1, false);
  if (next.jobs > limits.jobs) return over("jobs", next.jobs - 1, false);
  return next.bytes + bytes > limits.bytes ? over("bytes", next.bytes, false) : null;
}
