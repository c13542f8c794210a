/** The one client of the page. */
import { type Answer, type CallInput, makeClient } from "@sluice/client";
import type { AnswerOf, Endpoint } from "@sluice/wire";

/** Said whenever an answer was 401: whoever was here must show again who they are. */
export const SIGNED_OUT = "sluice-signed-out";

export const client = makeClient({ baseUrl: "" });

export async function call<E extends Endpoint>(endpoint: E, input: CallInput<E>): Promise<Answer<AnswerOf<E>>> {
  return noticed(await client.call(endpoint, input));
}

export function noticed<T>(answer: Answer<T>): Answer<T> {
  if (!answer.ok && answer.kind === "refused" && answer.refusal.status === 401) dispatchEvent(new Event(SIGNED_OUT));
  return answer;
}

/** What went wrong, ready to be shown. */
export interface Trouble {
  readonly title: string;
  readonly detail: string;
  readonly code: string;
  readonly status: number;
  readonly requestId: string;
}

export function troubleOf(answer: Extract<Answer<unknown>, { ok: false }>): Trouble {
  if (answer.kind === "unreachable")
    return { title: "No answer", detail: answer.why, code: "UNREACHABLE", status: 0, requestId: "" };
  const { title, detail, code, status, instance, errors } = answer.refusal;
  const more = (errors ?? []).map(({ pointer, field, detail: what }) => `${field ?? pointer ?? ""} ${what}`.trim());
  return { title, detail: [detail, ...more].join("; "), code, status, requestId: instance };
}

/** Says who it is; the server keeps that in a cookie that scripts cannot read. */
export async function signIn(token: string): Promise<string | null> {
  try {
    const response = await fetch("/login", {
      method: "POST",
      headers: { "content-type": "application/json", accept: "application/json" },
      body: JSON.stringify({ token }),
    });
    if (response.ok) return null;
    if (response.status === 429) return "Too many attempts: wait a minute.";
    return response.status === 401
      ? "This token is not known, or no longer."
      : `The server answers ${response.status}.`;
  } catch {
    return "The server cannot be reached.";
  }
}

export async function signOut(): Promise<void> {
  await fetch("/logout", { method: "POST" }).catch(() => undefined);
  dispatchEvent(new Event(SIGNED_OUT));
}
