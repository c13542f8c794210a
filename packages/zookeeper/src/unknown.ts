import { isSilence, type Answer, type Session } from "./port.ts";

/**
 * - ok: what `look` found.
 * - lost: the session ended first. Its work is dropped; on another session nothing could be concluded, since a late
 *   frame of the old one may still arrive.
 * - unresolved: the session lives and yet gives no answer. Close it, then it is "lost".
 */
export type Resolution<T> =
  { readonly ok: true; readonly value: T } | { readonly ok: false; readonly why: "lost" | "unresolved" };

const MAX_ROUNDS = 10;

/**
 * After an UNKNOWN: waits for the connection, lets everything that was sent before take effect or fail (a barrier), and
 * then looks. `look` must only read, and turn expected refusals (NO_NODE) into values: it may run more than once.
 */
export async function resolveUnknown<T>(
  session: Session,
  look: (session: Session) => Promise<Answer<T>>,
): Promise<Resolution<T>> {
  for (let round = 0; round < MAX_ROUNDS; round++) {
    if (!(await session.untilConnected())) return { ok: false, why: "lost" };
    if (!(await session.barrier())) continue;
    const seen = await look(session);
    if (seen.ok) return seen;
    if (!isSilence(seen.code)) break;
  }
  return { ok: false, why: session.state === "lost" ? "lost" : "unresolved" };
}
