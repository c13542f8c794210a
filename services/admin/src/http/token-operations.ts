/** Who may come in: tokens of the tree. Those of the file are the machine's own affair. */
import { mintToken, type TokenRecord, TokenRecordSchema } from "@sluice/access";
import type { Operation } from "@sluice/http-api";
import { keepToken, readTokens, revokeToken } from "@sluice/queue-core";
import { ADMIN, type TokenView } from "@sluice/wire";
import { connected, SILENCE } from "./answers.ts";
import { change } from "./changes.ts";
import type { AdminDeps } from "./deps.ts";
import { serve } from "./serve.ts";

const DAY_MS = 86_400_000;

export const tokenOperations = (deps: AdminDeps): readonly Operation[] => [
  serve(ADMIN.tokens, async () => {
    const open = connected(deps.queue);
    const read = open === null ? "silence" : await readTokens(open.context.session);
    if (read === "silence" || read === null) return SILENCE;
    const items = read.tokens.flatMap((kept) => {
      const token = TokenRecordSchema.safeParse(kept);
      return token.success ? [tokenView(token.data, deps.clock.nowMs())] : [];
    });
    return { value: { items: items.sort((a, b) => (a.name < b.name ? -1 : 1)) } };
  }),
  serve(ADMIN.endingTokens, async () => {
    const ends = await deps.tokenEnds();
    return ends === null ? SILENCE : { value: { items: [...ends] } };
  }),
  serve(ADMIN.makeToken, async ({ body, caller, response }) => {
    const open = connected(deps.queue);
    if (open === null) return SILENCE;
    const nowMs = deps.clock.nowMs();
    const { id, token, hash } = mintToken(deps.randomBytes);
    const record: TokenRecord = {
      id,
      name: body.name,
      role: body.role,
      collections: body.collections,
      ...(body.tenants === undefined ? {} : { tenants: body.tenants }),
      ...(body.stages === undefined ? {} : { stages: body.stages }),
      hash,
      created: new Date(nowMs).toISOString(),
      created_by: caller.name,
      expires: new Date(nowMs + body.expires_in_days * DAY_MS).toISOString(),
    };
    const what = { caller, response, action: "token.make", target: id, what: "token", message: "" };
    const made = await change(deps, { ...what, reason: body.reason }, (operator) =>
      keepToken(open.context, operator, record),
    );
    return "problem" in made ? made : { value: { ...tokenView(record, nowMs), token } };
  }),
  serve(ADMIN.revokeToken, async ({ params: { id }, query: { reason }, caller, response }) => {
    const open = connected(deps.queue);
    if (open === null) return SILENCE;
    const message = `${id} is revoked; it ceases to work within seconds`;
    const what = { caller, response, action: "token.revoke", target: id, what: "token", message, reason };
    return await change(deps, what, (operator) =>
      /^[a-z0-9]{12}$/.test(id)
        ? revokeToken(open.context, operator, id)
        : Promise.resolve({ kind: "not-found" as const }),
    );
  }),
];

const tokenView = ({ hash: _, ...shown }: TokenRecord, nowMs: number): TokenView => ({
  ...shown,
  expired: Date.parse(shown.expires) <= nowMs,
});
