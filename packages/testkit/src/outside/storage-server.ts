/** Merritt's storage service, as far as ingest speaks to it; it fetches what it is given, and keeps a ledger. */
import { createHash } from "node:crypto";
import { unescapeFileName } from "@sluice/ingest-formats";
import { type HttpServer, type Ledger, type Received, serveHttp, type Trouble } from "./http-server.ts";

export interface StorageServer<L extends Ledger = string[]> extends HttpServer {
  readonly received: Received[];
  /** What it stored. */
  readonly ledger: L;
  /** By ARK: of each version, path → SHA-256. */
  readonly objects: Map<string, Map<string, string>[]>;
  /** For the next POSTs, one each: before it acts, or after. */
  readonly before: Trouble[];
  readonly after: Trouble[];
  /** Bytes go wrong on the way. */
  damaged: boolean;
}

type State = Omit<StorageServer<Ledger>, keyof HttpServer>;

export async function storageServer(): Promise<StorageServer>;
export async function storageServer<L extends Ledger>(ledger: L): Promise<StorageServer<L>>;
export async function storageServer(ledger: Ledger = []): Promise<StorageServer<Ledger>> {
  const facts = { received: [], ledger, objects: new Map(), before: [], after: [], damaged: false };
  const state: State = facts;
  const { url, close } = await serveHttp((request, response) => {
    state.received.push(request);
    const answer = (status: number, text: string): void => void response.writeHead(status).end(text);
    if (request.path.startsWith("/store/hostname")) {
      answer(200, '{"fil:hostname":{"fil:canonicalHostname":"127.0.0.1"}}');
      return;
    }
    const [, call = "", ark = ""] = /^\/store\/(\w+)\/7777\/([^/?]+)$/.exec(request.path) ?? [];
    const id = decodeURIComponent(ark);
    if (call === "manifest") {
      answer(...objectInfo(state, id));
      return;
    }
    const trouble = state.before.shift();
    if (trouble !== undefined) trouble(response);
    else
      void store(state, call, id, request).then((reply) => (state.after.shift() ?? (() => answer(...reply)))(response));
  });
  return Object.assign(facts, { url: `${url}/store`, close });
}

function objectInfo({ objects }: State, ark: string): [number, string] {
  const versions = objects.get(ark);
  if (versions === undefined) return [404, "no such object"];
  const file = ([path, digest]: [string, string]): string =>
    `<file id="${path.replaceAll("&", "&amp;").replaceAll('"', "&quot;")}"><digestType>SHA-256</digestType><digest>${digest}</digest></file>`;
  const version = (files: Map<string, string>, i: number): string =>
    `<version id="${i + 1}"><manifest>${[...files].map(file).join("")}</manifest></version>`;
  const body = `<object id="${ark}"/><versions>${versions.map(version).join("")}</versions>`;
  return [
    200,
    `<?xml version="1.1"?><objectInfo xmlns="http://uc3.cdlib.org/ontology/mrt/manifest">${body}</objectInfo>`,
  ];
}

async function store(state: State, call: string, ark: string, request: Received): Promise<[number, string]> {
  const form = new URLSearchParams(request.body);
  const manifest = form.get("manifest") ?? (await (await fetch(form.get("url") ?? "")).text());
  const versions = state.objects.get(ark) ?? [];
  const files = new Map(
    call === "update" ? [...(versions.at(-1) ?? [])].filter(([path]) => path.startsWith("producer/")) : [],
  );
  for (const path of (form.get("delete") ?? "").split("\n").filter((line) => line !== "")) {
    if (!files.delete(path)) return [400, `cannot delete ${path}`];
  }
  for (const line of manifest.split("\n").filter((row) => row !== "" && !row.startsWith("#"))) {
    const [url = "", , digest = "", , , name = ""] = line.split(" | ");
    const bytes = Buffer.from(await (await fetch(url)).arrayBuffer());
    const found = createHash("sha256").update(bytes).digest("hex");
    if (found !== digest) return [500, `${name} is ${found}`];
    files.set(unescapeFileName(name), state.damaged ? "0".repeat(64) : digest);
  }
  if (state.damaged) files.set("system/mrt-ingest.txt", ingestDigest(manifest));
  state.objects.set(ark, [...versions, files]);
  state.ledger.push(`${call} ${ark} v${versions.length + 1} for ${String(request.headers["jid"])}`);
  return [200, JSON.stringify({ "ver:versionState": { "ver:identifier": versions.length + 1, "ver:objectID": ark } })];
}

const ingestDigest = (manifest: string): string =>
  / \| ([0-9a-f]{64}) \|[^\n]*mrt-ingest\.txt/.exec(manifest)?.[1] ?? "";
