import type { Operation } from "@sluice/http-api";
import { ADMIN } from "@sluice/wire";
import { checkChain, readAudit } from "../house/audit.ts";
import { connected, SILENCE } from "./answers.ts";
import { auditCursor, LIMIT_DEFAULT, readCursor } from "./cursors.ts";
import type { AdminDeps } from "./deps.ts";
import { serve } from "./serve.ts";

export const auditOperations = (deps: AdminDeps): readonly Operation[] => [
  serve(ADMIN.audit, async ({ query }) => {
    const open = connected(deps.queue);
    const cursor = readCursor(auditCursor, query.cursor);
    if ("problem" in cursor) return cursor;
    if (open === null) return SILENCE;
    const { actor, target, limit = LIMIT_DEFAULT } = query;
    const page = await readAudit(open.context.session, { actor, target, limit, before: cursor.at });
    if (page === null) return SILENCE;
    return { value: { items: [...page.items], next_cursor: page.next === null ? null : auditCursor.print(page.next) } };
  }),
  serve(ADMIN.auditCheck, async () => {
    const open = connected(deps.queue);
    const value = open === null ? null : await checkChain(open.context.session);
    return value === null ? SILENCE : { value };
  }),
];
