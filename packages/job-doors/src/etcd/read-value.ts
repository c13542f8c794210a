/** A value as etcd's clients send it: JSON, or the form field `value` with JSON in it. */
import { type operation, type Problem, problem } from "@sluice/http-api";
import { isNestedDeeper, REQUEST_DEPTH, STATUS } from "@sluice/job-queue";
import { readText } from "../http/read-text.ts";

type Request = Parameters<Parameters<typeof operation>[1]>[1];

const VALUE_BYTES = 2 * 1024 * 1024;

interface Sent {
  /** Undefined for what is no JSON. */
  readonly value: unknown;
  /** Of a form; empty otherwise. */
  readonly fields: URLSearchParams;
}

export async function readValue(request: Request): Promise<Sent | { readonly problem: Problem }> {
  const body = await readText(request, VALUE_BYTES);
  if ("problem" in body) return body;
  const fields = new URLSearchParams(request.is("urlencoded") === false ? "" : body.text);
  const text = request.is("urlencoded") === false ? body.text : (fields.get("value") ?? "");
  if (isNestedDeeper(text, REQUEST_DEPTH)) return { problem: problem("MALFORMED_REQUEST", STATUS.tooDeep.text) };
  return { value: parsed(text), fields };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
