/** Sending a move so that the caller learns what became of it, also when the answer was lost. */
import { type Answer, type Fault, type Move, resolveUnknown } from "@sluice/zookeeper";
import type { QueueContext } from "./context.ts";

export type Sent =
  | { readonly kind: "applied"; readonly zxid: bigint | null }
  /** The server said no: nothing of it happened. */
  | { readonly kind: "refused"; readonly fault: Fault & { readonly index: number } }
  /** The answer was lost, and a look at the tree says that it did not happen and must not be sent again. */
  | { readonly kind: "not-applied" }
  | { readonly kind: "lost" };

/** What a look at the tree can tell after a barrier; `ask-again` when the look itself was lost. */
export type Verdict = "applied" | "not-applied" | "send-again" | "ask-again";

/** A link that keeps breaking ends in a lost session long before this; it bounds the loop all the same. */
const ROUNDS_MAX = 20;

/**
 * Submits a move. An unknown outcome is resolved on the same session, after a barrier; once the session is lost
 * nothing is resolved or sent again, because a late frame of it may still arrive.
 */
export async function sendFenced(ctx: QueueContext, move: Move, look: () => Promise<Verdict>): Promise<Sent> {
  for (let round = 0; round < ROUNDS_MAX; round++) {
    const answer = await ctx.committer.submit(move);
    if (answer.ok) return { kind: "applied", zxid: answer.zxid };
    switch (answer.code) {
      case "SESSION_LOST":
        return { kind: "lost" };
      case "NOT_SENT":
        if (ctx.session.state === "connected") return { kind: "refused", fault: answer };
        if (!(await ctx.session.untilConnected())) return { kind: "lost" };
        continue;
      case "UNKNOWN": {
        const verdict = await resolve(ctx, look);
        if (verdict === "send-again") continue;
        return verdict === "applied" ? { kind: "applied", zxid: null } : { kind: verdict };
      }
      default:
        return { kind: "refused", fault: answer };
    }
  }
  await ctx.session.close(); // What hangs on it must not hang for ever.
  return { kind: "lost" };
}

/** A session that lives and yet gives no answer is ended: a lock that nobody can let go would outlast the work. */
async function resolve(
  ctx: QueueContext,
  look: () => Promise<Verdict>,
): Promise<"applied" | "not-applied" | "send-again" | "lost"> {
  const resolution = await resolveUnknown(ctx.session, async (): Promise<Answer<Exclude<Verdict, "ask-again">>> => {
    const verdict = await look();
    return verdict === "ask-again" ? { ok: false, code: "UNKNOWN", detail: "" } : { ok: true, value: verdict };
  });
  if (resolution.ok) return resolution.value;
  if (resolution.why === "unresolved") await ctx.session.close();
  return "lost";
}
