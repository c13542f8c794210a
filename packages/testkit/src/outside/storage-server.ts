/** Merritt's storage service, as far as ingest and inventory speak to it; it fetches what it is given, and keeps a ledger. */
import { createHash } from "node:crypto";
import { escapeXml, unescapeFileName } from "@sluice/ingest-formats";
import { type HttpServer, type Ledger, type Received, serveHttp, type Trouble } from "./http-server.ts";

export interface StorageServer<L extends Ledger = string[]> extends HttpServer {
  readonly received: Received[];
  /** What it stored. */
  readonly ledger: L;
  /** By ARK: of each version, its files by path. */
  readonly objects: Map<string, Map<string, KeptFile>[]>;
  /** For the next POSTs, one each: before it acts, or after. */
  readonly before: Trouble[];
  readonly after: Trouble[];
  /** Bytes go wrong on the way. */
  damaged: boolean;
}

export interface KeptFile {
  readonly sha256: string;
  readonly bytes: Buffer;
  readonly mimeType: string;
  /** The version that brought the content. */
  readonly contentOf: number;
}

type State = Omit<StorageServer<Ledger>, keyof HttpServer>;

export async function storageServer(): Promise<StorageServer>;
export async function storageServer<L extends Ledger>(ledger: L): Promise<StorageServer<L>>;
export async function storageServer(ledger: Ledger = []): Promise<StorageServer<Ledger>> {
  const facts = { received: [], ledger, objects: new Map(), before: [], after: [], damaged: false };
  const state: State = facts;
  const { url, close } = await serveHttp((request, response) => {
    state.received.push(request);
    const answer = (status: number, body: string | Buffer): void => void response.writeHead(status).end(body);
    if (request.path.startsWith("/store/hostname")) {
      answer(200, '{"fil:hostname":{"fil:canonicalHostname":"127.0.0.1"}}');
      return;
    }
    const [, call = "", ark = "", rest = ""] = /^\/store\/(\w+)\/\d+\/([^/?]+)(?:\/([^?]*))?$/.exec(request.path) ?? [];
    const id = decodeURIComponent(ark);
    if (call === "manifest" || call === "content") {
      answer(...(call === "manifest" ? objectInfo(state, id) : content(state, id, rest)));
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
  const element = (name: string, text: string): string => `<${name}>${escapeXml(text)}</${name}>`;
  const file = ([path, { sha256, bytes, mimeType, contentOf }]: [string, KeptFile]): string => {
    const facts = { digestType: "SHA-256", digest: sha256, size: `${bytes.length}`, mimeType };
    const elements = Object.entries({ ...facts, key: `${ark}|${contentOf}|${path}` });
    return `<file id="${escapeXml(path)}">${elements.map(([name, text]) => element(name, text)).join("")}</file>`;
  };
  const version = (files: Map<string, KeptFile>, i: number): string =>
    `<version id="${i + 1}"><manifest created="2026-02-0${i + 1}T03:04:05Z">${[...files].map(file).join("")}</manifest></version>`;
  const body = `<object id="${ark}"/><versions>${versions.map(version).join("")}</versions>`;
  return [
    200,
    `<?xml version="1.1"?><objectInfo xmlns="http://uc3.cdlib.org/ontology/mrt/manifest">${body}</objectInfo>`,
  ];
}

/** `VERSION/PATH` of an object. */
function content({ objects }: State, ark: string, which: string): [number, string | Buffer] {
  const [version = "", path = ""] = which.split("/");
  const file = objects.get(ark)?.[Number(version) - 1]?.get(decodeURIComponent(path));
  return file === undefined ? [404, "no such file"] : [200, file.bytes];
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
    const [url = "", , digest = "", , , cell = "", mimeType = ""] = line.split(" | ");
    const name = unescapeFileName(cell);
    const bytes = Buffer.from(await (await fetch(url)).arrayBuffer());
    const found = createHash("sha256").update(bytes).digest("hex");
    if (found !== digest) return [500, `${name} is ${found}`];
    const before = files.get(name);
    const contentOf = before?.sha256 === digest ? before.contentOf : versions.length + 1;
    const isWrong = state.damaged && name !== "system/mrt-ingest.txt";
    files.set(name, { sha256: isWrong ? "0".repeat(64) : digest, bytes, mimeType: mimeType.trim(), contentOf });
  }
  state.objects.set(ark, [...versions, files]);
  state.ledger.push(`${call} ${ark} v${versions.length + 1} for ${String(request.headers["jid"])}`);
  return [200, JSON.stringify({ "ver:versionState": { "ver:identifier": versions.length + 1, "ver:objectID": ark } })];
}
