/** Changes of handlers, at whatever endpoint: every one of them is in the audit, since it decides what code is run. */
import type { Caller } from "@sluice/access";
import { type Problem, problem } from "@sluice/http-api";
import type { Handler, HandlerSpec } from "@sluice/wire";
import { audited } from "./audit.ts";
import type { JobPorts } from "./ports.ts";
import { SILENCE } from "./serve.ts";

export const NO_HANDLER = { problem: problem("NOT_FOUND", "there is no such handler") };

type Ports = Pick<JobPorts, "handlers" | "audit">;

export interface Changing {
  readonly tenant: string;
  /** A name, or name@version. */
  readonly type: string;
  readonly caller: Caller;
  readonly requestId: string;
  readonly reason: string | undefined;
}

const orderOf = ({ tenant, type, caller, requestId, reason = "" }: Changing, action: string) => ({
  ...{ caller, requestId, reason, action },
  target: `${tenant}/${type}`,
});

export function putHandler(
  { handlers, audit }: Ports,
  change: Changing,
  spec: HandlerSpec,
): Promise<{ readonly value: Handler } | { readonly problem: Problem }> {
  const { tenant, type, caller } = change;
  return audited(audit, orderOf(change, `handler.put ${spec.lang}`), async () => {
    const put = await handlers.put(tenant, type, spec, caller.name);
    if (put.ok) return { value: put.handler };
    return put.why === "invalid" ? { problem: problem("INVALID_REQUEST", put.detail) } : SILENCE;
  });
}

export function removeHandler(
  { handlers, audit }: Ports,
  change: Changing,
): Promise<{ readonly value: { versions: number[] } } | { readonly problem: Problem }> {
  const { tenant, type, caller } = change;
  return audited(audit, orderOf(change, "handler.delete"), async () => {
    const gone = await handlers.remove(tenant, type, caller.name);
    if (gone === "silence") return SILENCE;
    return gone.length === 0 ? NO_HANDLER : { value: { versions: [...gone] } };
  });
}
