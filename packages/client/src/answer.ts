/** What a call comes back with. Refusals and silence are values: whoever calls must look at them. */

/** RFC 9457, as our services write it. */
export interface Refusal {
  readonly status: number;
  readonly code: string;
  readonly title: string;
  readonly detail: string;
  /** The request's id: finds it in the services' logs. */
  readonly instance: string;
  readonly errors?: readonly {
    readonly pointer?: string;
    readonly field?: string;
    readonly line?: number;
    readonly detail: string;
  }[];
  readonly retryAfterSeconds?: number;
}

export type Answer<T> =
  | { readonly ok: true; readonly value: T; readonly status: number }
  | { readonly ok: false; readonly kind: "refused"; readonly refusal: Refusal }
  /** Nobody answered, or not in our language. */
  | { readonly ok: false; readonly kind: "unreachable"; readonly why: string };

export async function readAnswer<T>(response: Response): Promise<Answer<T>> {
  // The line may break, or the caller lose interest, between the head of an answer and its end.
  const text = await response
    .text()
    .catch((error: unknown) => (error instanceof Error ? error : new Error(String(error))));
  if (typeof text !== "string")
    return { ok: false, kind: "unreachable", why: `${response.url} broke off: ${text.message}` };
  const body = parsed(text);
  if (response.ok) {
    if (text !== "" && body === undefined)
      return { ok: false, kind: "unreachable", why: `${response.url} does not answer in JSON` };
    // Our own server checked it against the same schema.
    return { ok: true, value: body as T, status: response.status };
  }
  return { ok: false, kind: "refused", refusal: refusalOf(response, body) };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

const text = (from: object, key: string): string | undefined => {
  const value: unknown = (from as Readonly<Record<string, unknown>>)[key];
  return typeof value === "string" ? value : undefined;
};

/** Also of answers that are none of ours: a proxy in between has its own. */
export function refusalOf(response: Response, body: unknown): Refusal {
  const problem = typeof body === "object" && body !== null ? body : {};
  const retryAfter = Number(response.headers.get("retry-after") ?? "");
  const errors: unknown = "errors" in problem ? problem.errors : undefined;
  return {
    status: response.status,
    code: text(problem, "code") ?? `HTTP_${response.status}`,
    title: text(problem, "title") ?? response.statusText,
    detail: text(problem, "detail") ?? `answered ${response.status}`,
    instance: text(problem, "instance") ?? response.headers.get("x-request-id") ?? "",
    ...(Array.isArray(errors) ? { errors: errors as NonNullable<Refusal["errors"]> } : {}),
    ...(retryAfter > 0 ? { retryAfterSeconds: retryAfter } : {}),
  };
}
