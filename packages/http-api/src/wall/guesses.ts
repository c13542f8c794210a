/**
 * How many wrong credentials came from one address, and for one token, in a minute. It is asked only after credentials were
 * refused: a valid token always passes, whoever else guesses from the same address.
 */
import { ipKeyGenerator } from "express-rate-limit";

/** Wrong credentials in a minute from one address, or for one token. */
export const GUESSES_PER_MINUTE = 60;
const WINDOW_MS = 60_000;
/** Beyond so many addresses and tokens in a minute, the others share a count: memory has a bound. */
const KEYS_MAX = 20_000;

export interface Guess {
  readonly address: string;
  /** The public part of the token that was shown; absent = it was no token of ours. */
  readonly tokenId?: string | undefined;
}

export interface Guesses {
  /** Counts one. Null: it may be answered as it is; otherwise the seconds until the count begins again. */
  note(guess: Guess): number | null;
  readonly perMinute: number;
}

export function makeGuesses(perMinute = GUESSES_PER_MINUTE, monotonicMs = () => performance.now()): Guesses {
  let counts = new Map<string, number>();
  let sinceMs = monotonicMs();
  const add = (key: string): number => {
    const counted = counts.has(key) || counts.size < KEYS_MAX ? key : "others";
    const count = (counts.get(counted) ?? 0) + 1;
    counts.set(counted, count);
    return count;
  };
  return {
    perMinute,
    note({ address, tokenId }) {
      const nowMs = monotonicMs();
      if (nowMs - sinceMs >= WINDOW_MS) [counts, sinceMs] = [new Map<string, number>(), nowMs];
      const most = Math.max(
        add(`address ${ipKeyGenerator(address)}`),
        tokenId === undefined ? 0 : add(`token ${tokenId}`),
      );
      return most > perMinute ? (sinceMs + WINDOW_MS - nowMs) / 1_000 : null;
    },
  };
}
