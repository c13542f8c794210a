/** Changes that a person makes: written down before they are carried out, with who asked for them and why. */
import type { Caller } from "@sluice/access";
import { type ANSWERED, type Problem, problem } from "@sluice/http-api";

export interface Order {
  readonly caller: Pick<Caller, "id" | "name">;
  readonly requestId: string;
  /** What: queue.cancel. */
  readonly action: string;
  /** On what: acme/12, a tenant's job; acme/mail, a type of its jobs. */
  readonly target: string;
  /** Why. */
  readonly reason: string;
}

/** False: it could not be written. */
export type WriteAudit = (order: Order) => Promise<boolean>;

const NOT_WRITTEN: Problem = problem("UNAVAILABLE", "the audit cannot be written just now, so nothing was changed", {
  retryAfterSeconds: 2,
});
/** What is refused after all is written too: the order alone would read as if it had been done. */
export async function audited<A extends object | typeof ANSWERED>(
  write: WriteAudit,
  order: Order,
  carryOut: () => Promise<A | { readonly problem: Problem }>,
): Promise<A | { readonly problem: Problem }> {
  if (!(await write(order))) return { problem: NOT_WRITTEN };
  const answer = await carryOut();
  const refused = typeof answer === "object" && "problem" in answer ? answer.problem : null;
  // Otherwise nobody knows what was done.
  if (refused !== null && refused.code !== "UNAVAILABLE")
    await write({ ...order, action: `${order.action} refused`, reason: refused.detail });
  return answer;
}
