import { readTokens, revokeToken, SYSTEM } from "@sluice/queue-core";
import type { Sweep } from "@sluice/stage-runtime";

/** So long one can see that a token has expired, and whose it was. */
const KEPT_DAYS = 30;
const DAY_MS = 86_400_000;
const BY_TIME = { name: SYSTEM, reason: `it expired over ${KEPT_DAYS} days ago` };

/** Tokens that expired long ago leave the tree, each with a record in the audit. */
export const expiredTokensSweep = (everyMs: number): Sweep => ({
  kind: "sweep",
  name: "expired-tokens",
  everyMs,
  async run(ctx) {
    const read = await readTokens(ctx.queue.session);
    if (read === null || read === "silence") return;
    const limitMs = ctx.queue.session.serverNowMs() - KEPT_DAYS * DAY_MS;
    for (const { id, name, role, expires } of read.tokens.filter((token) => Date.parse(token.expires) < limitMs)) {
      if (ctx.signal.aborted) return;
      // An admin who was faster is no trouble.
      if ((await revokeToken(ctx.queue, BY_TIME, id)).kind !== "applied") continue;
      ctx.log.info({ token: id, name, role, expires }, "a token that expired long ago was removed");
    }
  },
});
