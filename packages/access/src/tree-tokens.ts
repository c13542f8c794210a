/** The tokens of the queue's tree. What was read last stays in use while ZooKeeper is away, for a bounded time. */
import { readTokens } from "@sluice/queue-core";
import type { Session } from "@sluice/zookeeper";
import { type TokenRecord, TokenRecordSchema } from "./token-record.ts";
import type { TokenSource } from "./token-source.ts";

export interface TreeTokensOptions {
  /** Of the moment; null while there is none. */
  readonly session: () => Session | null;
  readonly monotonicMs: () => number;
  /** A revoked token works at most this long, as long as ZooKeeper answers. */
  readonly maxAgeMs?: number;
  /** … and at most this long while it does not answer; then nobody's token can be checked. */
  readonly staleMaxMs: number;
}

const MAX_AGE_MS = 2_000;

export function makeTreeTokens({
  session,
  monotonicMs,
  maxAgeMs = MAX_AGE_MS,
  staleMaxMs,
}: TreeTokensOptions): TokenSource {
  let known: { readonly version: string; readonly byId: ReadonlyMap<string, TokenRecord> } | null = null;
  let lookedAtMs = Number.NEGATIVE_INFINITY;
  let looking: Promise<void> | null = null;
  const look = async (): Promise<void> => {
    const now = session();
    if (now?.state !== "connected") return;
    const beganMs = monotonicMs();
    const read = await readTokens(now, known?.version);
    if (read === "silence") return;
    lookedAtMs = beganMs;
    // A record of a role that this version does not know is no token here.
    if (read !== null) known = { version: read.version, byId: new Map(read.tokens.flatMap(entry)) };
  };
  /** However many ask, one looks. */
  const lookOnce = (): Promise<void> => (looking ??= look().finally(() => (looking = null)));
  return {
    async find(id) {
      const askedMs = monotonicMs();
      if (askedMs - lookedAtMs >= maxAgeMs) await lookOnce();
      // Unknown may mean new: whoever has just been given a token must not be told that nobody knows it.
      if (known?.byId.has(id) !== true && lookedAtMs < askedMs) await lookOnce();
      if (known === null || monotonicMs() - lookedAtMs > Math.max(staleMaxMs, maxAgeMs)) return "silence";
      return known.byId.get(id) ?? "none";
    },
  };
}

function entry(raw: unknown): readonly (readonly [string, TokenRecord])[] {
  const parsed = TokenRecordSchema.safeParse(raw);
  return parsed.success ? [[parsed.data.id, parsed.data]] : [];
}
