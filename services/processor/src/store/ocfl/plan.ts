/** What the next version of an object will be: decided here, written elsewhere. */
import type { StoreFile, StoreRequest } from "../object-store.ts";
import {
  headNumber,
  headVersion,
  type Inventory,
  INVENTORY_TYPE,
  type PathsByDigest,
  versionName,
} from "./inventory.ts";

export interface VersionPlan {
  readonly number: number;
  readonly inventory: Inventory;
  /** Content that the object does not hold yet. `path` is relative to the version's content folder. */
  readonly copies: readonly { readonly path: string; readonly file: StoreFile }[];
}

export type Planned = { readonly ok: true; readonly plan: VersionPlan } | { readonly ok: false; readonly why: string };

export function planVersion(current: Inventory | null, request: StoreRequest): Planned {
  if (request.fresh && current !== null) return { ok: false, why: `the new ${request.ark} is an object already` };
  const carried = carriedOver(current, request);
  const unknown = request.deletes.find((path) => !carried.delete(path));
  if (unknown !== undefined) return { ok: false, why: `mrt-delete.txt: ${unknown} is no file of ${request.ark}` };
  const logical = nextState(carried, request);
  const clash = conflictingPath(logical.keys());
  if (clash !== null) return { ok: false, why: clash };
  const number = current === null ? 1 : headNumber(current) + 1;
  const copies = newContent(current?.manifest ?? {}, request.files);
  const inventory = nextInventory(current, request, number, logical, copies);
  return { ok: true, plan: { number, inventory, copies } };
}

/** Logical path → digest. System files describe one version: only producer files are carried into the next. */
function carriedOver(current: Inventory | null, { mode }: StoreRequest): Map<string, string> {
  const before = mode === "update" && current !== null ? logicalPaths(headVersion(current)?.state ?? {}) : [];
  return new Map(before.filter(([path]) => path.startsWith("producer/")));
}

function nextState(carried: ReadonlyMap<string, string>, { files }: StoreRequest): Map<string, string> {
  return new Map([...carried, ...files.map(({ logicalPath, sha512 }): [string, string] => [logicalPath, sha512])]);
}

export const logicalPaths = (state: PathsByDigest): [path: string, digest: string][] =>
  Object.entries(state).flatMap(([digest, paths]) => paths.map((path): [string, string] => [path, digest]));

/** A file cannot be a folder in the same version. */
function conflictingPath(paths: Iterable<string>): string | null {
  const all = new Set(paths);
  for (const path of all) {
    for (let cut = path.lastIndexOf("/"); cut > 0; cut = path.lastIndexOf("/", cut - 1)) {
      const folder = path.slice(0, cut);
      if (all.has(folder)) return `${folder} is a file of the object, and ${path} needs a folder of that name`;
    }
  }
  return null;
}

/** Each digest once: what the object has is not stored again. */
function newContent(manifest: PathsByDigest, files: readonly StoreFile[]): VersionPlan["copies"] {
  const first = new Map<string, StoreFile>();
  for (const file of files) {
    if (manifest[file.sha512] === undefined && !first.has(file.sha512)) first.set(file.sha512, file);
  }
  return [...first.values()].map((file) => ({ path: file.logicalPath, file }));
}

function nextInventory(
  current: Inventory | null,
  request: StoreRequest,
  number: number,
  logical: ReadonlyMap<string, string>,
  copies: VersionPlan["copies"],
): Inventory {
  const head = versionName(number);
  const contentPath = (path: string): string => `${head}/content/${path}`;
  const manifest = { ...current?.manifest };
  const sha256: PathsByDigest = { ...current?.fixity?.["sha256"] };
  for (const { path, file } of copies) {
    manifest[file.sha512] = [contentPath(path)];
    sha256[file.sha256] = [...(sha256[file.sha256] ?? []), contentPath(path)];
  }
  return {
    id: request.ark,
    type: INVENTORY_TYPE,
    digestAlgorithm: "sha512",
    head,
    ...(current?.contentDirectory === undefined ? {} : { contentDirectory: current.contentDirectory }),
    manifest,
    versions: { ...current?.versions, [head]: versionBlock(request, logical) },
    fixity: { ...current?.fixity, sha256 },
  };
}

function versionBlock(request: StoreRequest, logical: ReadonlyMap<string, string>): Inventory["versions"][string] {
  const state: PathsByDigest = {};
  for (const [path, digest] of logical) (state[digest] ??= []).push(path);
  return {
    created: request.created,
    state,
    message: messageOf(request),
    user: userOf(request.user),
  };
}

/** The job's id at the start: by it a later run finds the version it, or a predecessor killed in time, has made. */
const messageOf = (request: StoreRequest): string => `${request.job} ${request.mode}: ${request.note}`;

export function versionOfJob(inventory: Inventory, job: string): number | null {
  const found = Object.entries(inventory.versions).find(([, version]) => version.message?.startsWith(`${job} `));
  return found === undefined ? null : Number(found[0].slice(1));
}

function userOf(user: string): { name: string; address?: string } {
  const address = /[^\s<>,;"@]{1,64}@[^\s<>,;"]{1,255}/.exec(user)?.[0];
  return { name: user === "" ? "unknown" : user, ...(address === undefined ? {} : { address: `mailto:${address}` }) };
}

/** Whether a version holds the producer files of a request: system files carry dates, and may differ between two runs. */
export function holdsProducerFiles(inventory: Inventory, number: number, files: readonly StoreFile[]): boolean {
  const state = new Map(logicalPaths(inventory.versions[versionName(number)]?.state ?? {}));
  return files
    .filter(({ logicalPath }) => logicalPath.startsWith("producer/"))
    .every(({ logicalPath, sha512 }) => state.get(logicalPath) === sha512);
}
