/** What depositors were told, where the mails of a development fleet can be read. */
import { inScope } from "@sluice/access";
import type { Operation } from "@sluice/http-api";
import { batchFolder, parseBatchFolder, placeOfBatch } from "@sluice/queue-core";
import { ADMIN } from "@sluice/wire";
import { readOutbox } from "../house/outbox.ts";
import { lookUpBatch } from "../views/lookup.ts";
import { connected, SILENCE } from "./answers.ts";
import { LIMIT_DEFAULT, nameCursor, readCursor } from "./cursors.ts";
import type { AdminDeps } from "./deps.ts";
import { foundOr } from "./looks.ts";
import { serve } from "./serve.ts";

const mailCursor = nameCursor("mails");
/** A batch has one mail when it is queued, one per report: a handful. */
const MAILS_OF_A_BATCH = 50;

export const mailOperations = (deps: AdminDeps): readonly Operation[] => [
  serve(ADMIN.mails, async ({ query, caller }) => {
    const cursor = readCursor(mailCursor, query.cursor);
    if ("problem" in cursor) return cursor;
    const { outboxDir } = deps.settings;
    if (outboxDir === null) return { value: { items: [], next_cursor: null } };
    const limit = query.limit ?? LIMIT_DEFAULT;
    const { items, next } = await readOutbox(outboxDir, { limit, after: cursor.at });
    const mine = caller.scope === "all" ? items : await inCollections(deps, items, caller.scope);
    if (mine === null) return SILENCE;
    return { value: { items: [...mine], next_cursor: next === null ? null : mailCursor.print(next) } };
  }),
  serve(ADMIN.batchMails, async ({ params, caller }) => {
    const open = connected(deps.queue);
    if (open === null) return SILENCE;
    const batch = foundOr(await lookUpBatch(open, params.id, caller.scope), "batch");
    if ("problem" in batch) return batch;
    const { outboxDir } = deps.settings;
    if (outboxDir === null) return { value: { items: [] } };
    const page = await readOutbox(outboxDir, {
      batch: batchFolder(placeOfBatch(batch.value)),
      limit: MAILS_OF_A_BATCH,
    });
    return { value: { items: [...page.items] } };
  }),
];

/** A mail is about a batch; a batch that is gone belongs to nobody any more. null = no answer. */
async function inCollections<M extends { readonly id: string }>(
  { queue }: AdminDeps,
  mails: readonly M[],
  scope: readonly string[],
): Promise<readonly M[] | null> {
  const open = connected(queue);
  if (open === null) return null;
  const mine: M[] = [];
  for (const mail of mails) {
    const folder = mail.id.split(".")[0] ?? "";
    const place = parseBatchFolder(folder);
    const view = place === null ? null : await lookUpBatch(open, place.batchId, scope);
    if (view?.kind === "silence") return null;
    const isIt = view?.kind === "found" && batchFolder(placeOfBatch(view.value)) === folder;
    if (isIt && inScope(scope, view.value.submission.profile_name)) mine.push(mail);
  }
  return mine;
}
