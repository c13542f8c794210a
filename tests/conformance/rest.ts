/** Plain HTTP, to two processes in turn. */
import { request } from "undici";
import type { Address } from "./talk.ts";

export interface Reply {
  readonly status: number;
  /** The document's words, where a command was asked. */
  readonly said: string;
  readonly text: string;
  readonly body: unknown;
}

export type Rest = (method: "GET" | "POST" | "PUT" | "DELETE", path: string, body?: unknown) => Promise<Reply>;

/** A text is sent as it is; anything else as JSON. */
export function restOf(addresses: readonly Address[]): Rest {
  let turn = 0;
  return async (method, path, body) => {
    const { http } = addresses[turn++ % addresses.length] ?? { http: "" };
    const type = typeof body === "string" ? "text/plain" : "application/json";
    const answer = await request(`${http}${path}`, {
      method,
      ...(body === undefined
        ? {}
        : { headers: { "content-type": type }, body: typeof body === "string" ? body : JSON.stringify(body) }),
    });
    const text = await answer.body.text();
    const isJson = String(answer.headers["content-type"] ?? "").includes("json");
    const said = String(answer.headers["job-status"] ?? "");
    return {
      status: answer.statusCode,
      said,
      text,
      body: isJson && text !== "" ? (JSON.parse(text) as unknown) : null,
    };
  };
}

/** Fails with what was said instead. */
export async function good<T>(reply: Promise<Reply>): Promise<T> {
  const { status, text, body } = await reply;
  if (status >= 300) throw new Error(`${status} ${text}`);
  return body as T;
}
