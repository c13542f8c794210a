/** A request for each endpoint, good enough that its caller is judged and not its body. */
import { OWN } from "./apis.ts";

/** What is asked for, where a path or a body names something. */
export interface Named {
  readonly tenant: string;
  /** Of the job queue. */
  readonly job: number;
}

const SWITCH = { action: "release", reason: "a test of rights" };

export const bodyOf = (path: string, { tenant, job }: Named): object => {
  if (path.endsWith("/take")) return { worker: "w", tenants: [tenant] };
  if (path.endsWith("/renew")) return { leases: [{ tenant, jobID: 1, lease: "x" }] };
  if (path.endsWith("/CreateJob")) return { name: "fleet/deposit" };
  if (/\/(Cancel|Delete)Job$/.test(path)) return { jobID: job };
  if (path === "/v1/tenants/:tenant/handlers/:type") return { lang: "node", body: "return 200" };
  if (path.startsWith("/v1/jobs/actions")) return { ...SWITCH, filter: { profile: OWN.collection }, dry_run: true };
  // What a maintainer may, too.
  if (path === "/v1/batches/:id/actions") return { ...SWITCH, action: "clean-up" };
  if (path.endsWith("/actions")) return SWITCH;
  return path === "/v1/batches" ? { profile: OWN.collection, payload_url: "https://example.org/a.checkm" } : {};
};

export const isForm = (path: string): boolean => path.startsWith("/poster/");

/** `extra`: fields besides, before all others. */
export function contentOf(path: string, named: Named, extra: Readonly<Record<string, string>> = {}): string | FormData {
  if (!isForm(path)) return JSON.stringify({ ...extra, ...bodyOf(path, named) });
  const form = new FormData();
  for (const [name, value] of Object.entries(extra)) form.append(name, value);
  form.append("profile", OWN.collection);
  form.append("file", new Blob(["hello"]), "object.txt");
  return form;
}

export function queryOf(path: string, tenant: string): string {
  if (path.startsWith("/v2/") && !path.endsWith("/workers")) return `?tenant=${tenant}`;
  return path === "/v1/tenants/:tenant/jobs" ? "?name=fleet/deposit" : "";
}

export interface Asked {
  readonly credentials: string | null;
  readonly content?: string | FormData | undefined;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The status, and all of a document or the first words of a stream. */
export async function send(
  url: string,
  method: string,
  { credentials, content, headers }: Asked,
): Promise<{ readonly status: number; readonly text: string }> {
  const given = new AbortController();
  const response = await fetch(url, {
    method,
    headers: {
      ...(credentials === null ? {} : { authorization: credentials }),
      ...(content instanceof FormData ? {} : { "content-type": "application/json" }),
      ...headers,
    },
    ...(content === undefined ? {} : { body: content }),
    signal: given.signal,
  });
  const text = await firstOf(response);
  given.abort();
  if ([429, 503].includes(response.status) && !response.headers.has("retry-after"))
    throw new Error(`${method} ${url}: ${response.status} does not say when to come again`);
  return { status: response.status, text };
}

async function firstOf(response: Response): Promise<string> {
  if (response.headers.get("content-type")?.startsWith("text/event-stream") !== true) return await response.text();
  let text = "";
  for await (const chunk of response.body as ReadableStream<Uint8Array>) {
    text += Buffer.from(chunk).toString("utf8");
    if (text.includes("data: ")) break;
  }
  return text;
}
