/** Questions before something is changed. Where nobody can be asked, the options must have the answer. */
import type { Option } from "../command.ts";
import { type Context, stop } from "../context.ts";
import { EXIT, type ExitCode } from "../exit-codes.ts";

export const REASON: Option = {
  name: "reason",
  value: "TEXT",
  says: "why: stands in the audit and in the history",
};
export const YES: Option = { name: "yes", short: "y", says: "do not ask" };
export const DRY_RUN: Option = { name: "dry-run", says: "say what would be done, and do nothing" };

const REASON_MIN = 3;

export type Asked<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly code: ExitCode };

export async function reasonFor(context: Context): Promise<Asked<string>> {
  const { io, given } = context;
  const typed = given.text("reason") ?? (io.ask === null ? "" : await io.ask("Reason (for the audit): "));
  const value = typed.trim();
  if (value.length >= REASON_MIN) return { ok: true, value };
  const why = value === "" ? "every change needs a reason" : "the reason is too short";
  return { ok: false, code: stop(context, EXIT.usage, why, "add --reason TEXT, of three letters or more") };
}

/**
 * `typed`: the word to be typed for what cannot be undone, or what nobody is told about; otherwise y is enough.
 */
export async function confirmed(context: Context, question: string, typed?: string): Promise<Asked<true>> {
  const { io, given } = context;
  if (given.has("yes")) return { ok: true, value: true };
  if (io.ask === null) {
    return { ok: false, code: stop(context, EXIT.usage, `${question} Nobody is here to be asked`, "add --yes") };
  }
  const asks = typed === undefined ? `${question} [y/N] ` : `${question}\nType ${typed} to go on: `;
  const answer = (await io.ask(asks)).trim();
  const agreed = typed === undefined ? /^y(es)?$/i.test(answer) : answer === typed;
  return agreed ? { ok: true, value: true } : { ok: false, code: stop(context, EXIT.refused, "nothing was done") };
}
