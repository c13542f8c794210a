/** The console's files, as they were built: read once, sent packed, kept by browsers for as long as their names last. */
import { named, problem, sendProblem } from "@sluice/http-api";
import type { IRouter, Request, RequestHandler } from "express";
import { readdirSync, readFileSync } from "node:fs";
import { extname, join } from "node:path";
import { brotliCompressSync, gzipSync } from "node:zlib";

export const CONSOLE_POLICY =
  "default-src 'self'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
  "object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'";

const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".json": "application/json",
  ".map": "application/json",
  ".svg": "image/svg+xml",
  ".png": "image/png",
  ".ico": "image/x-icon",
  ".woff2": "font/woff2",
  ".txt": "text/plain; charset=utf-8",
};
const PACKED = new Set([".html", ".js", ".css", ".json", ".map", ".svg", ".txt"]);
/** name-HASH.js, name.HASH.js: another content has another name. */
const HASHED = /[.-][A-Za-z0-9_-]{8,64}\.[a-z0-9]{1,16}$/;
const INDEX = "/index.html";

interface Asset {
  readonly type: string;
  readonly plain: Buffer;
  readonly packed: Readonly<Partial<Record<"br" | "gzip", Buffer>>>;
  readonly isHashed: boolean;
}

const NOT_BUILT = problem(
  "UNAVAILABLE",
  "the console has not been built (npm run build); the API works without it, and is described at /docs",
  { retryAfterSeconds: 60 },
);

export function addConsole(router: IRouter, folder: string): void {
  const assets = readAssets(folder);
  const index = assets.get(INDEX);
  if (index === undefined) {
    router.get("/", (_request, response) => sendProblem(response, NOT_BUILT));
    return;
  }
  const pages: RequestHandler = (request, response, next) => {
    if (request.method !== "GET" && request.method !== "HEAD") {
      next();
      return;
    }
    const asset = assets.get(request.path) ?? (isPage(request) ? index : undefined);
    if (asset === undefined) {
      next();
      return;
    }
    const encoding = (["br", "gzip"] as const).find(
      (each) => asset.packed[each] !== undefined && request.acceptsEncodings(each) === each,
    );
    response.set({
      "Content-Type": asset.type,
      "Content-Security-Policy": CONSOLE_POLICY,
      "Cache-Control": asset.isHashed ? "public, max-age=31536000, immutable" : "no-cache",
      Vary: "Accept-Encoding",
      ...(encoding === undefined ? {} : { "Content-Encoding": encoding }),
    });
    response.send(encoding === undefined ? asset.plain : asset.packed[encoding]);
  };
  router.use(named("consolePages", pages));
}

/** The console has addresses of its own: each of them is the same page. */
function isPage(request: Request): boolean {
  if (/^\/(v1|docs|openapi\.json)(\/|$)/.test(request.path) || extname(request.path) !== "") return false;
  return request.accepts(["html", "json"]) === "html";
}

function readAssets(folder: string): ReadonlyMap<string, Asset> {
  const assets = new Map<string, Asset>();
  const walk = (prefix: string): void => {
    for (const entry of readdirSync(join(folder, prefix), { withFileTypes: true })) {
      const path = `${prefix}/${entry.name}`;
      if (entry.isDirectory()) walk(path);
      else if (entry.isFile()) assets.set(path, assetOf(path, readFileSync(join(folder, path))));
    }
  };
  try {
    walk("");
  } catch {
    return new Map();
  }
  return assets;
}

function assetOf(path: string, plain: Buffer): Asset {
  const extension = extname(path);
  const type = TYPES[extension] ?? "application/octet-stream";
  const packed = PACKED.has(extension) ? { br: brotliCompressSync(plain), gzip: gzipSync(plain) } : {};
  return { type, plain, packed, isHashed: HASHED.test(path) && path !== INDEX };
}
