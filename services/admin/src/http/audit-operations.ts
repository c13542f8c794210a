import { readFile } from "node:fs/promises";
import { type Operation, problem } from "@sluice/http-api";
import { type AnchorVerifier, readAnchorVerifier } from "@sluice/queue-core";
import { ADMIN } from "@sluice/wire";
import { checkAudit } from "../house/audit-check.ts";
import { listAudit } from "../house/audit-list.ts";
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
    const page = await listAudit(open.context.session, deps.archive, { actor, target, limit, before: cursor.at });
    if (page.kind === "silence") return SILENCE;
    if (page.kind === "no-archive") return { problem: problem("UNAVAILABLE", page.why, { retryAfterSeconds: 60 }) };
    return { value: { items: [...page.items], next_cursor: page.next === null ? null : auditCursor.print(page.next) } };
  }),
  serve(ADMIN.auditCheck, async () => {
    const open = connected(deps.queue);
    const verifier = await verifierIn(deps.settings.auditKeysFile);
    if (typeof verifier === "string") return { problem: problem("INTERNAL_ERROR", verifier) };
    if (open === null) return SILENCE;
    const value = await checkAudit(open.context.session, { archive: deps.archive, verifier });
    return value === null ? SILENCE : { value };
  }),
];

/** Read at each check, so that a rotated key counts without a restart. A text: why it cannot be used. */
async function verifierIn(path: string | null): Promise<AnchorVerifier | null | string> {
  if (path === null) return null;
  try {
    const read = readAnchorVerifier(await readFile(path, "utf8"));
    return read.ok ? read.value : `AUDIT_PUBLIC_KEYS_FILE: ${read.problem}`;
  } catch (error) {
    // A secret that was not made is mounted as an empty folder.
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return null;
    return "AUDIT_PUBLIC_KEYS_FILE: the file cannot be read";
  }
}
