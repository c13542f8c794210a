/**
 * STORAGE_URL=merritt+http(s)://HOST/…: Merritt's storage service. It fetches the files itself, from the addresses in the
 * manifest that it is given. It knows nothing of jobs; but mrt-ingest.txt names the job, so the version that holds ours is
 * ours, and a request whose answer was lost is not repeated blindly.
 */
import { readFile } from "node:fs/promises";
import { escapeFileName } from "@sluice/ingest-formats";
import type { ObjectStore, StoreContext, StoreFile, StoreRequest, StoreResult } from "../object-store.ts";
import { MEMBERSHIP, standingOf, troubleOfFollowing } from "./belonging.ts";
import { addressOf, ANSWER_MAX, away, lookUp, type MerrittStoreParts, type Versions } from "./look-up.ts";

const MANIFEST_INLINE_MAX = 1_000_000;

export const merrittStore = (parts: MerrittStoreParts): ObjectStore => ({
  name: parts.base,
  put: (request, ctx) => put(parts, request, ctx),
  holds: async (object, signal) => {
    const found = await lookUp(parts, object, signal);
    if (!found.ok) return found.result;
    return { kind: found.info.size === 0 ? "absent" : "there" };
  },
  look: async (object, signal) => {
    // Without a node there is no object, and `put` says so.
    if (object.node === undefined) return { kind: "absent" };
    const found = await lookUp(parts, object, signal);
    return found.ok ? standingOf(parts, object, found.info, signal) : found.result;
  },
});

async function put(parts: MerrittStoreParts, request: StoreRequest, ctx: StoreContext): Promise<StoreResult> {
  const unfit = unfitFor(request);
  if (unfit !== null) return { kind: "refused", message: unfit };
  const before = await lookUp(parts, request, ctx.signal);
  if (!before.ok) return before.result;
  const own = ownVersion(before.info, request);
  if (own !== null) return answerOf(parts, request, before.info, own, EARLIER);
  const trouble = await troubleOfFollowing(parts, request, before.info, ctx.signal);
  if (trouble !== null) return trouble;
  if (request.fresh && before.info.size > 0) {
    return { kind: "refused", message: `the new ${request.ark} is an object already` };
  }
  await ctx.checkpoint("storeBegun");
  const sent = await send(parts, request, ctx);
  await ctx.checkpoint("midEffect");
  const after = await lookUp(parts, request, ctx.signal);
  if (!after.ok) return after.result;
  const made = ownVersion(after.info, request);
  if (made !== null) return answerOf(parts, request, after.info, made, NEW);
  return sent ?? { kind: "unavailable", message: `${parts.base} says it has stored ${request.ark}, and has not` };
}

/** It takes names from the manifest as they stand, and nodes by number. */
function unfitFor({ files, node }: StoreRequest): string | null {
  if (node === undefined) return "the profile names no StorageNode";
  const name = files.map(({ logicalPath }) => logicalPath).find((path) => escapeFileName(path) !== path);
  return name === undefined ? null : `the storage service cannot take the name ${JSON.stringify(name)}`;
}

function ownVersion(info: Versions, { files }: StoreRequest): number | null {
  const ours = files.find(({ logicalPath }) => logicalPath === "system/mrt-ingest.txt")?.sha256;
  const found = [...info].find(([, version]) => version.files.get("system/mrt-ingest.txt")?.digest === ours);
  return found === undefined ? null : found[0];
}

const MANIFEST = "system/mrt-manifest.txt";

/** Not compared. The manifest is not in itself: the service never hears of it as a file. */
const NEW: readonly string[] = [MANIFEST];
/** Since an earlier run the object may have got further collections. */
const EARLIER: readonly string[] = [MANIFEST, MEMBERSHIP];

/** Believed only if it has every file as we have it. */
function answerOf(
  parts: MerrittStoreParts,
  request: StoreRequest,
  info: Versions,
  version: number,
  except: readonly string[],
): StoreResult {
  const stored = info.get(version)?.files;
  const wrong = request.files
    .filter(({ logicalPath }) => !except.includes(logicalPath))
    .find(({ logicalPath, sha256 }) => stored?.get(logicalPath)?.digest !== sha256);
  if (wrong !== undefined) {
    return { kind: "refused", message: `version ${version} of ${request.ark} has another ${wrong.logicalPath}` };
  }
  const manifestUrl = addressOf(parts, "manifest", request);
  return { kind: "stored", version, manifestUrl, mode: version === 1 ? "add" : "update" };
}

/** Null: it says that it has stored the object. */
async function send(
  parts: MerrittStoreParts,
  request: StoreRequest,
  { signal }: StoreContext,
): Promise<StoreResult | null> {
  const worker = await workerOf(parts, signal);
  const answer = await parts.egress.post(addressOf({ ...parts, base: worker }, request.mode, request), {
    contentType: "application/x-www-form-urlencoded",
    body: await formOf(parts, request),
    headers: { JID: request.job },
    signal,
    maxBytes: ANSWER_MAX,
  });
  if (!answer.ok) {
    const refused = answer.error.status === 400;
    return refused ? { kind: "refused", message: answer.error.message } : away(answer.error);
  }
  answer.value.discard();
  return null;
}

/** One of the machines behind the service's name, so that a long call stays with it; the name itself if it will not say. */
async function workerOf({ base, egress }: MerrittStoreParts, signal: AbortSignal): Promise<string> {
  const answer = await egress.get(`${base}/hostname?t=json`, { signal, maxBytes: 100_000 });
  const text = answer.ok ? await answer.value.text() : answer;
  const host = text.ok
    ? /"(?:\w+:)?canonicalHostname"\s*:\s*"([A-Za-z0-9.-]{1,253})"/.exec(text.value)?.[1]
    : undefined;
  if (host === undefined || host === "localhost") return base;
  const worker = new URL(base);
  worker.hostname = host;
  return worker.href.replace(/\/$/, "");
}

async function formOf(parts: MerrittStoreParts, { files, deletes }: StoreRequest): Promise<string> {
  const form = new URLSearchParams({ t: "json" });
  const manifest = files.find(({ logicalPath }) => logicalPath === MANIFEST);
  if (manifest !== undefined) await addManifest(form, manifest, parts);
  if (deletes.length > 0) form.set("delete", `${deletes.join("\n")}\n`);
  return form.toString();
}

async function addManifest(
  form: URLSearchParams,
  { size, source }: StoreFile,
  parts: MerrittStoreParts,
): Promise<void> {
  if (size < MANIFEST_INLINE_MAX) form.set("manifest", await readFile(source, "utf8"));
  else form.set("url", parts.urlOf(source));
}
