/** An EZID service, from its public description: create, update, read; and a ledger of what it did. */
import type { ServerResponse } from "node:http";
import { type HttpServer, type Ledger, type Received, serveHttp, type Trouble } from "./http-server.ts";

export interface EzidServer<L extends Ledger = string[]> extends HttpServer {
  readonly received: Received[];
  /** What changed. */
  readonly ledger: L;
  readonly identifiers: Map<string, Map<string, string>>;
  /** For the next requests, one each: before it acts, or after. */
  readonly before: Trouble[];
  readonly after: Trouble[];
  /** Which ARK it speaks of, instead of the one that it was asked for. */
  alias: ((ark: string) => string) | undefined;
}

const decode = (text: string): string => decodeURIComponent(text);

export function parseEzidBody(body: string): Map<string, string> {
  const lines = body.split("\n").filter((line) => line !== "");
  return new Map(
    lines.map((line) => [decode(line.slice(0, line.indexOf(": "))), decode(line.slice(line.indexOf(": ") + 2))]),
  );
}

type State = Omit<EzidServer<Ledger>, keyof HttpServer>;

export const EZID_ACCOUNT = "apitest:secret";

export async function ezidServer(): Promise<EzidServer>;
export async function ezidServer<L extends Ledger>(ledger: L): Promise<EzidServer<L>>;
export async function ezidServer(ledger: Ledger = []): Promise<EzidServer<Ledger>> {
  const facts = { received: [], ledger, identifiers: new Map(), before: [], after: [], alias: undefined };
  const state: State = facts;
  const server = await serveHttp((request, response) => {
    state.received.push(request);
    const trouble = state.before.shift();
    if (trouble !== undefined) {
      trouble(response);
      return;
    }
    const credentials = Buffer.from((request.headers.authorization ?? "").slice(6), "base64").toString();
    const [status, text] = credentials === EZID_ACCOUNT ? act(state, request) : [401, "error: unauthorized"];
    (state.after.shift() ?? answer(status, text))(response);
  });
  return Object.assign(facts, server);
}

const answer =
  (status: number, text: string): Trouble =>
  (response: ServerResponse) =>
    void response.writeHead(status, { "content-type": "text/plain" }).end(text);

function act(state: State, { method, path, body }: Received): [number, string] {
  const [, ark = "", query = ""] = /^\/id\/(ark:\/[^?]+)(?:\?(.*))?$/.exec(path) ?? [];
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
  const elements = parseEzidBody(body);
  state.identifiers.set(ark, new Map([...(found ?? []), ...elements]));
  const change = found === undefined ? "created" : "updated";
  state.ledger.push(`${change} ${ark} ${state.identifiers.get(ark)?.get("_status") ?? ""}`);
  return [method === "PUT" && found === undefined ? 201 : 200, `success: ${named}`];
}
