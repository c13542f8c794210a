/** An EZID service, from its public description: create, update, read; and a ledger of what it did. */
import type { ServerResponse } from "node:http";
import { type Received, serve, type Trouble } from "./http-server.ts";

export interface EzidServer {
  readonly url: string;
  readonly received: Received[];
  /** What changed, in order; only ever appended to. */
  readonly ledger: string[];
  readonly identifiers: Map<string, Map<string, string>>;
  /** For the next requests, one each: before it acts, or after. */
  readonly before: Trouble[];
  readonly after: Trouble[];
  /** Which ARK it speaks of, instead of the one that it was asked for. */
  alias: ((ark: string) => string) | undefined;
}

const decode = (text: string): string => decodeURIComponent(text);

export function parseBody(body: string): Map<string, string> {
  const lines = body.split("\n").filter((line) => line !== "");
  return new Map(
    lines.map((line) => [decode(line.slice(0, line.indexOf(": "))), decode(line.slice(line.indexOf(": ") + 2))]),
  );
}

export async function ezidServer(account = "apitest:secret"): Promise<EzidServer> {
  const facts = { received: [], ledger: [], identifiers: new Map(), before: [], after: [], alias: undefined };
  const state: Omit<EzidServer, "url"> = facts;
  const url = await serve((request, response) => {
    state.received.push(request);
    const trouble = state.before.shift();
    if (trouble !== undefined) {
      trouble(response);
      return;
    }
    const credentials = Buffer.from((request.headers.authorization ?? "").slice(6), "base64").toString();
    const [status, text] = credentials === account ? act(state, request) : [401, "error: unauthorized"];
    (state.after.shift() ?? answer(status, text))(response);
  });
  return Object.assign(facts, { url });
}

const answer =
  (status: number, text: string): Trouble =>
  (response: ServerResponse) =>
    void response.writeHead(status, { "content-type": "text/plain" }).end(text);

function act(state: Omit<EzidServer, "url">, { method, path, body }: Received): [number, string] {
  const [, ark = "", query = ""] = /^\/id\/(ark:\/[^?]+)\??(.*)$/.exec(path) ?? [];
  const found = state.identifiers.get(ark);
  const named = state.alias?.(ark) ?? ark;
  if (method === "GET") {
    if (found === undefined) return [400, "error: bad request - no such identifier"];
    const lines = [...found].map(([name, value]) => `${name}: ${value.replaceAll("%", "%25").replaceAll("\n", "%0A")}`);
    return [200, [`success: ${named}`, ...lines].join("\n")];
  }
  if (method === "PUT" && found !== undefined && query !== "update_if_exists=yes") {
    return [400, "error: bad request - identifier already exists"];
  }
  if (method === "POST" && found === undefined) return [400, "error: bad request - no such identifier"];
  const elements = parseBody(body);
  state.identifiers.set(ark, new Map([...(found ?? []), ...elements]));
  const change = found === undefined ? "created" : "updated";
  state.ledger.push(`${change} ${ark} ${state.identifiers.get(ark)?.get("_status") ?? ""}`);
  return [method === "PUT" && found === undefined ? 201 : 200, `success: ${named}`];
}
