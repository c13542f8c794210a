/** Whose an object of Merritt's storage service is: its newest version's mrt-owner.txt and mrt-membership.txt say it. */
import { createHash } from "node:crypto";
import { mayChange, type ObjectInfoVersion, parseMembership, parseOwner } from "@sluice/ingest-formats";
import type { ObjectAddress, Standing, StoreRequest, StoreResult } from "../object-store.ts";
import { addressOf, away, type MerrittStoreParts, type Versions } from "./look-up.ts";

const OWNER = "system/mrt-owner.txt";
export const MEMBERSHIP = "system/mrt-membership.txt";
const FILE_MAX = 1024 * 1024;

export async function standingOf(
  parts: MerrittStoreParts,
  object: ObjectAddress,
  versions: Versions,
  signal: AbortSignal,
): Promise<Standing> {
  const version = newest(versions);
  const files = versions.get(version)?.files;
  if (files === undefined) return { kind: "absent" };
  const read = (path: string) => readContent(parts, { object, version, path, expected: files.get(path) }, signal);
  const owner = await read(OWNER);
  if (!owner.ok) return owner.result;
  const membership = await read(MEMBERSHIP);
  if (!membership.ok) return membership.result;
  if (owner.text === null || membership.text === null) return { kind: "there", version, belongs: null };
  const belongs = { owner: parseOwner(owner.text), collections: parseMembership(membership.text) };
  return { kind: "there", version, belongs };
}

/** Null: the request may become the next version. */
export async function troubleOfFollowing(
  parts: MerrittStoreParts,
  request: StoreRequest,
  versions: Versions,
  signal: AbortSignal,
): Promise<StoreResult | null> {
  if (newest(versions) <= request.judged) return null;
  const standing = await standingOf(parts, request, versions, signal);
  if (standing.kind === "absent") return null;
  if (standing.kind !== "there") return standing;
  return standing.belongs !== null && mayChange(request.writer, standing.belongs) ? null : { kind: "foreign" };
}

const newest = (versions: Versions): number => [...versions.keys()].reduce((most, each) => Math.max(most, each), 0);

interface Content {
  readonly object: ObjectAddress;
  readonly version: number;
  readonly path: string;
  readonly expected: ReturnType<ObjectInfoVersion["files"]["get"]>;
}

type Read =
  | { readonly ok: true; readonly text: string | null }
  | { readonly ok: false; readonly result: Extract<StoreResult, { kind: "unavailable" }> };

/** Believed only if it is what the service's manifest says; null if the version has no such file. */
async function readContent(
  parts: MerrittStoreParts,
  { object, version, path, expected }: Content,
  signal: AbortSignal,
): Promise<Read> {
  if (expected === undefined) return { ok: true, text: null };
  const url = `${addressOf(parts, "content", object)}/${version}/${encodeURIComponent(path)}`;
  const answer = await parts.egress.get(url, { signal, maxBytes: FILE_MAX });
  if (!answer.ok) return { ok: false, result: away(answer.error) };
  const text = await answer.value.text();
  if (!text.ok) return { ok: false, result: away(text.error) };
  const digest = createHash("sha256").update(text.value).digest("hex");
  if (expected.digestType.toLowerCase() !== "sha-256" || expected.digest === digest)
    return { ok: true, text: text.value };
  const message = `${path} of version ${version} of ${object.ark} is not what the storage service's manifest says`;
  return { ok: false, result: { kind: "unavailable", message } };
}
