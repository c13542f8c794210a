/** What is run for the jobs of a type. */
import { type Operation, problem } from "@sluice/http-api";
import { type Handler, type HandlerSummary, JOBS } from "@sluice/wire";
import type { HandlersPort } from "./ports.ts";
import { serve, SILENCE } from "./serve.ts";

export const NO_HANDLER = { problem: problem("NOT_FOUND", "there is no such handler") };

export const handlerOperations = (handlers: HandlersPort): readonly Operation[] => [
  serve(JOBS.listHandlers, async ({ params: { tenant } }) => {
    const found = await handlers.list(tenant);
    return found === "silence" ? SILENCE : { value: { items: found.map(summaryOf) } };
  }),
  serve(JOBS.getHandler, async ({ params: { tenant, type }, query: { version } }) => {
    const found = await handlers.get(tenant, named(type, version));
    if (found === "silence") return SILENCE;
    return found === null ? NO_HANDLER : { value: found };
  }),
  serve(JOBS.putHandler, async ({ params: { tenant, type }, body, caller }) => {
    const put = await handlers.put(tenant, type, body, caller.name);
    if (put.ok) return { value: put.handler };
    return put.why === "invalid" ? { problem: problem("INVALID_REQUEST", put.detail) } : SILENCE;
  }),
  serve(JOBS.deleteHandler, async ({ params: { tenant, type }, query: { version }, caller }) => {
    const gone = await handlers.remove(tenant, named(type, version), caller.name);
    if (gone === "silence") return SILENCE;
    return gone.length === 0 ? NO_HANDLER : { value: { versions: [...gone] } };
  }),
];

const named = (type: string, version: number | undefined): string =>
  version === undefined ? type : `${type}@${version}`;

const summaryOf = ({ id, tenant, type, version, created, by, lang, body }: Handler): HandlerSummary => ({
  id,
  tenant,
  type,
  version,
  created,
  by,
  lang,
  bytes: Buffer.byteLength(body),
});
