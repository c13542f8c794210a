/** What is run for the jobs of a type. */
import { type Operation, requestIdOf } from "@sluice/http-api";
import { type Handler, type HandlerSummary, JOBS } from "@sluice/wire";
import { NO_HANDLER, putHandler, removeHandler } from "./handler-changes.ts";
import type { JobPorts } from "./ports.ts";
import { serve, SILENCE } from "./serve.ts";

export const handlerOperations = ({ handlers, audit }: Pick<JobPorts, "handlers" | "audit">): readonly Operation[] => [
  serve(JOBS.listHandlers, async ({ params: { tenant } }) => {
    const found = await handlers.list(tenant);
    return found === "silence" ? SILENCE : { value: { items: found.map(summaryOf) } };
  }),
  serve(JOBS.getHandler, async ({ params: { tenant, type }, query: { version } }) => {
    const found = await handlers.get(tenant, named(type, version));
    if (found === "silence") return SILENCE;
    return found === null ? NO_HANDLER : { value: found };
  }),
  serve(JOBS.putHandler, ({ params: { tenant, type }, query: { reason }, body, caller, response }) =>
    putHandler({ handlers, audit }, { tenant, type, caller, reason, requestId: requestIdOf(response) }, body),
  ),
  serve(JOBS.deleteHandler, ({ params: { tenant, type }, query: { version, reason }, caller, response }) => {
    const change = { tenant, type: named(type, version), caller, reason, requestId: requestIdOf(response) };
    return removeHandler({ handlers, audit }, change);
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
