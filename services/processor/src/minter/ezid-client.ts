/** The calls of EZID's API that we make, and what its answers mean. */
import type { Egress, Wait } from "@sluice/safe-io";
import { type EzidElements, parseEzid, printEzid } from "./ezid-elements.ts";

export interface EzidAccount {
  readonly user: string;
  readonly password: string;
}

export interface EzidClientParts {
  readonly egress: Egress;
  readonly account: EzidAccount;
  readonly wait: Wait;
}

export type EzidAnswer =
  | { readonly kind: "success"; readonly elements: ReadonlyMap<string, string> }
  /** EZID, or something before it, said no. */
  | { readonly kind: "error"; readonly status: number; readonly message: string }
  | { readonly kind: "away"; readonly message: string };

export type EzidMethod = "GET" | "POST" | "PUT";

const CONNECTS = 3;
const CONNECT_PAUSE_MS = 5_000;
const ANSWER_MAX_BYTES = 1_000_000;

/** Lines of EZID: `success: ark:/…` or `error: …` first. A connection that fails is tried again, 5 s apart. */
export async function askEzid(
  parts: EzidClientParts,
  method: EzidMethod,
  url: string,
  elements: EzidElements,
  signal: AbortSignal,
): Promise<EzidAnswer> {
  let away = "";
  for (let connect = 0; connect < CONNECTS; connect += 1) {
    if (connect > 0) await parts.wait(CONNECT_PAUSE_MS, signal);
    signal.throwIfAborted();
    const answer = await once(parts, method, url, elements, signal);
    if (answer.kind !== "away") return answer;
    away = answer.message;
  }
  return { kind: "away", message: away };
}

async function once(
  { egress, account }: EzidClientParts,
  method: EzidMethod,
  url: string,
  elements: EzidElements,
  signal: AbortSignal,
): Promise<EzidAnswer> {
  const options = { basicAuth: account, signal, maxBytes: ANSWER_MAX_BYTES, accepts: () => true };
  const body = printEzid(elements);
  const response =
    method === "GET"
      ? await egress.get(url, options)
      : await egress.post(url, { ...options, method, contentType: "text/plain; charset=UTF-8", body });
  if (!response.ok) return { kind: "away", message: response.error.message };
  const text = await response.value.text();
  if (!text.ok) return { kind: "away", message: text.error.message };
  return answerOf(response.value.status, text.value);
}

function answerOf(status: number, text: string): EzidAnswer {
  const elements = parseEzid(text);
  if (status < 300 && elements.has("success")) return { kind: "success", elements };
  const firstLine = (text.split("\n")[0] ?? "").slice(0, 300);
  return { kind: "error", status, message: `EZID answered ${status}: ${firstLine}` };
}
