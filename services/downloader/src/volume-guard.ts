/**
 * Jobs of unknown size were promised no room: they may grow while the volume has some. The same holds for what a job
 * takes beyond its promise. At the limit one job is stopped at a time, the one that is furthest beyond its promise, and
 * the next only when that one has given its room back.
 */
import type { VolumeSpace } from "@sluice/safe-io";

export interface VolumeGuardOptions {
  /** null: it cannot be looked at just now. */
  readonly space: () => Promise<VolumeSpace | null>;
  /** The share of the volume that jobs may fill. */
  readonly limit: number;
  /** Estimates are rough where files are small: nobody is stopped before so many bytes. */
  readonly floorBytes: number;
  /** The volume is looked at again after so many bytes more. */
  readonly stepBytes?: number;
}

/** One job's time on the volume. */
export interface Stay {
  /** Aborts when the job has to stop and give back what it took. */
  readonly signal: AbortSignal;
  /** So many bytes of it are on the volume now. */
  took(bytes: number): void;
  /** It is done, or has given its room back. */
  leave(): void;
}

const STEP_BYTES = 8 * 1024 * 1024;

interface Guest {
  readonly promisedBytes: number;
  readonly stop: AbortController;
  bytes: number;
  nextLookAtBytes: number;
}

export class VolumeGuard {
  readonly #options: VolumeGuardOptions;
  readonly #guests = new Set<Guest>();
  #looking = false;

  constructor(options: VolumeGuardOptions) {
    this.#options = options;
  }

  /** `promisedBytes`: 0 = nobody knows how much it needs. */
  enter(promisedBytes: number): Stay {
    const { floorBytes, stepBytes = STEP_BYTES } = this.#options;
    const stop = new AbortController();
    const guest: Guest = { promisedBytes, stop, bytes: 0, nextLookAtBytes: Math.max(promisedBytes, floorBytes) };
    this.#guests.add(guest);
    return {
      signal: stop.signal,
      took: (bytes) => {
        guest.bytes = bytes;
        if (bytes <= guest.nextLookAtBytes) return;
        guest.nextLookAtBytes = bytes + stepBytes;
        void this.#look();
      },
      leave: () => void this.#guests.delete(guest),
    };
  }

  async #look(): Promise<void> {
    if (this.#looking) return;
    this.#looking = true;
    try {
      const space = await this.#options.space();
      if (space !== null) this.#judge(space);
    } finally {
      this.#looking = false;
    }
  }

  #judge({ totalBytes, freeBytes }: VolumeSpace): void {
    const guests = [...this.#guests];
    const isLeaving = guests.some(({ stop }) => stop.signal.aborted);
    if (isLeaving || totalBytes - freeBytes <= totalBytes * this.#options.limit) return;
    furthestBeyond(guests, this.#options.floorBytes)?.stop.abort(new Error("no room is left on the volume"));
  }
}

function furthestBeyond(guests: readonly Guest[], floorBytes: number): Guest | undefined {
  const beyond = guests.filter(({ bytes, promisedBytes }) => bytes > Math.max(promisedBytes, floorBytes));
  return beyond.sort((a, b) => b.bytes - b.promisedBytes - (a.bytes - a.promisedBytes))[0];
}
