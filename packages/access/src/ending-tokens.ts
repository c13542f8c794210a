/** Tokens that end soon: whoever works with one must have another before. Pure. */
import type { TokenRecord } from "./token-record.ts";

const DAY_MS = 86_400_000;
export const ENDING_SOON_MS = 14 * DAY_MS;
/** One that has just ended is still missed by whoever used it. */
const ENDED_LATELY_MS = 7 * DAY_MS;

export type EndingToken = Pick<TokenRecord, "id" | "name" | "role" | "expires">;

/** The soonest first. */
export function endingTokens(tokens: readonly TokenRecord[], nowMs: number): readonly EndingToken[] {
  return tokens
    .map(({ id, name, role, expires }) => ({ id, name, role, expires, endsMs: Date.parse(expires) }))
    .filter(({ endsMs }) => endsMs <= nowMs + ENDING_SOON_MS && endsMs > nowMs - ENDED_LATELY_MS)
    .sort((a, b) => a.endsMs - b.endsMs)
    .map(({ endsMs: _, ...token }) => token);
}
