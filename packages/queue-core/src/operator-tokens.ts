/** Bearer tokens in the tree: made and revoked with an audit record, never changed. */
import type { Session } from "@sluice/zookeeper";
import type { QueueContext } from "./context.ts";
import { createOp, deleteOp } from "./job-ops.ts";
import { nodeOf, readable } from "./nodes.ts";
import { act, type ActionResult, type Operator } from "./operator.ts";
import { paths } from "./paths.ts";
import { type KeptToken, records } from "./records.ts";

export async function keepToken(ctx: QueueContext, operator: Operator, token: KeptToken): Promise<ActionResult> {
  const action = `token.make ${token.role} for ${token.name}`;
  return await act(ctx, operator, action, token.id, () =>
    Promise.resolve({ kind: "go", ops: [createOp(paths.token(token.id), records.token.encode(token))] }),
  );
}

export async function revokeToken(ctx: QueueContext, operator: Operator, id: string): Promise<ActionResult> {
  return await act(ctx, operator, "token.revoke", id, async () => {
    const node = await ctx.session.get(paths.token(id));
    if (!node.ok) return { kind: node.code === "NO_NODE" ? "not-found" : "lost" };
    return { kind: "go", ops: [deleteOp(paths.token(id), node.value.stat.version)] };
  });
}

export interface TokensRead {
  /** Changes whenever a token is made or revoked. */
  readonly version: string;
  readonly tokens: readonly KeptToken[];
}

/** All tokens, or null if nothing has changed since `version`; `silence` when ZooKeeper does not answer. */
export async function readTokens(session: Session, version?: string): Promise<TokensRead | null | "silence"> {
  const directory = await session.exists(paths.tokens);
  if (!directory.ok) return "silence";
  const stat = directory.value;
  // The czxid tells a tree that was made anew; the pzxid each child made or taken away.
  const now = stat === null ? "none" : `${stat.czxid}.${stat.pzxid}`;
  if (now === version) return null;
  const listed = await session.children(paths.tokens);
  if (!listed.ok) return listed.code === "NO_NODE" ? { version: now, tokens: [] } : "silence";
  const answers = await session.readMany(listed.value.names.map((name) => ({ get: paths.token(name) })));
  if (!answers.ok) return "silence";
  const tokens = answers.value.map(nodeOf).flatMap((node) => readable(records.token, node) ?? []);
  return { version: now, tokens };
}
