/** Every path of the general queue, and the parser of every name in it. Names of jobs stand in no path. */
import { blockOf, parseJobId, shardOf } from "./ids.ts";
import { SHARDS } from "./tenants.ts";

const ROOT = "/fleet/queue";
const two = (shard: number): string => String(shard).padStart(2, "0");
const shardRoot = (shard: number): string => `${ROOT}/s/${two(shard)}`;

export const paths = {
  fleet: "/fleet",
  root: ROOT,
  layout: `${ROOT}/layout`,
  /** The processes that serve the queue, while they live. */
  apis: `${ROOT}/apis`,
  api: (apiId: string) => `${ROOT}/apis/${apiId}`,
  terms: `${ROOT}/terms`,
  term: (shard: number, term: number) => `${ROOT}/terms/${two(shard)}.${term}`,
  shards: `${ROOT}/s`,
  shard: shardRoot,
  ids: (shard: number) => `${shardRoot(shard)}/ids`,
  counters: (shard: number) => `${shardRoot(shard)}/seq`,
  counter: (shard: number, term: number) => `${shardRoot(shard)}/seq/${term}`,
  jobs: (shard: number) => `${shardRoot(shard)}/j`,
  block: (block: number) => `${shardRoot(block % SHARDS)}/j/${block}`,
  job: (id: number) => `${shardRoot(shardOf(id))}/j/${blockOf(id)}/${id}`,
  data: (id: number) => `${shardRoot(shardOf(id))}/j/${blockOf(id)}/${id}/d`,
  groups: (shard: number) => `${shardRoot(shard)}/g`,
  group: (shard: number, group: string) => `${shardRoot(shard)}/g/${group}`,
  guests: (shard: number) => `${shardRoot(shard)}/journals`,
  guest: (shard: number, name: string) => `${shardRoot(shard)}/journals/${name}`,
  crashed: (shard: number) => `${shardRoot(shard)}/crashed`,
  restored: (shard: number) => `${shardRoot(shard)}/restored`,
  done: (shard: number) => `${shardRoot(shard)}/done`,
  doneDirectory: (shard: number, directory: string) => `${shardRoot(shard)}/done/${directory}`,
  doneEntry: (shard: number, directory: string, id: number, token: string) =>
    `${shardRoot(shard)}/done/${directory}/${id}-${token}`,
  doneResult: (shard: number, directory: string, id: number, token: string) =>
    `${shardRoot(shard)}/done/${directory}/${id}-${token}/r`,
  doneData: (shard: number, directory: string, id: number, token: string) =>
    `${shardRoot(shard)}/done/${directory}/${id}-${token}/d`,
} as const;

/** What a path of the queue stands for. */
export type Meaning =
  | { readonly kind: "layout" | "frame" | "api" | "unknown" }
  | { readonly kind: "term" | "counter"; readonly shard: number; readonly term: number }
  | {
      readonly kind: "ids" | "counters" | "jobs" | "groups" | "done" | "guests" | "crashed" | "restored";
      readonly shard: number;
    }
  | { readonly kind: "block"; readonly shard: number; readonly block: number }
  | { readonly kind: "job" | "data"; readonly shard: number; readonly block: number; readonly id: number }
  | { readonly kind: "group"; readonly shard: number; readonly group: string }
  | { readonly kind: "guest"; readonly shard: number; readonly name: string }
  | { readonly kind: "done-directory"; readonly shard: number; readonly directory: string }
  | {
      readonly kind: "done-entry" | "done-result" | "done-data";
      readonly shard: number;
      readonly id: number;
      readonly token: string;
    };

const UNKNOWN: Meaning = { kind: "unknown" };

/** "03.17": the owner of shard 3 in its 17th term. */
export function parseTermName(name: string): { readonly shard: number; readonly term: number } | null {
  const [, shard, term] = /^(\d\d)\.([1-9]\d{0,14})$/.exec(name) ?? [];
  if (shard === undefined || term === undefined || Number(shard) >= SHARDS) return null;
  return { shard: Number(shard), term: Number(term) };
}

export function parseDoneName(name: string): { readonly id: number; readonly token: string } | null {
  const [, rawId, token] = /^(\d+)-(\d+\.\d+)$/.exec(name) ?? [];
  const id = rawId === undefined ? null : parseJobId(rawId);
  return id === null || token === undefined ? null : { id, token };
}

export function meaningOf(path: string): Meaning {
  if (path === paths.layout) return { kind: "layout" };
  if ([ROOT, paths.apis, paths.terms, paths.shards].includes(path)) return { kind: "frame" };
  if (path.startsWith(`${paths.apis}/`)) return { kind: "api" };
  if (path.startsWith(`${paths.terms}/`)) {
    const term = parseTermName(path.slice(paths.terms.length + 1));
    return term === null ? UNKNOWN : { kind: "term", ...term };
  }
  const [, digits, rest] = /^\/fleet\/queue\/s\/(\d\d)(?:\/(.*))?$/.exec(path) ?? [];
  if (digits === undefined || Number(digits) >= SHARDS) return UNKNOWN;
  return rest === undefined ? { kind: "frame" } : insideShard(Number(digits), rest.split("/"));
}

function insideShard(shard: number, parts: readonly string[]): Meaning {
  const [head, ...names] = parts;
  if (head === "ids" && names.length === 0) return { kind: "ids", shard };
  if (head === "seq") return insideCounters(shard, names);
  if (head === "j") return names.length === 0 ? { kind: "jobs", shard } : insideJobs(shard, names);
  if (head === "g") return insideGroups(shard, names);
  if ((head === "crashed" || head === "restored") && names.length === 0) return { kind: head, shard };
  if (head === "journals") return insideGuests(shard, names);
  return head === "done" ? insideDone(shard, names) : UNKNOWN;
}

function insideJobs(shard: number, [rawBlock = "", rawId, leaf, ...more]: readonly string[]): Meaning {
  if (!/^\d{1,13}$/.test(rawBlock) || more.length > 0) return UNKNOWN;
  const block = Number(rawBlock);
  if (rawId === undefined) return { kind: "block", shard, block };
  const id = parseJobId(rawId);
  if (id === null || (leaf !== undefined && leaf !== "d")) return UNKNOWN;
  return { kind: leaf === undefined ? "job" : "data", shard, block, id };
}

function insideCounters(shard: number, [term, ...more]: readonly string[]): Meaning {
  if (term === undefined) return { kind: "counters", shard };
  return /^[1-9]\d{0,14}$/.test(term) && more.length === 0 ? { kind: "counter", shard, term: Number(term) } : UNKNOWN;
}

function insideGroups(shard: number, [group, ...more]: readonly string[]): Meaning {
  if (more.length > 0) return UNKNOWN;
  return group === undefined ? { kind: "groups", shard } : { kind: "group", shard, group };
}

function insideGuests(shard: number, [name, ...more]: readonly string[]): Meaning {
  if (more.length > 0) return UNKNOWN;
  return name === undefined ? { kind: "guests", shard } : { kind: "guest", shard, name };
}

const DONE_LEAVES: Readonly<Record<string, "done-result" | "done-data" | undefined>> = {
  r: "done-result",
  d: "done-data",
};

function insideDone(shard: number, [directory, entry, leaf, ...more]: readonly string[]): Meaning {
  if (directory === undefined) return { kind: "done", shard };
  if (entry === undefined) return { kind: "done-directory", shard, directory };
  const named = parseDoneName(entry);
  const kind = leaf === undefined ? "done-entry" : DONE_LEAVES[leaf];
  return named === null || more.length > 0 || kind === undefined ? UNKNOWN : { kind, shard, ...named };
}
